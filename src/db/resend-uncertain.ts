import type { Sql } from './client.js'

/**
 * Hands over again what nobody could decide and whose sender chose `resend`. Found by an index that holds nothing else.
 *
 * It is a decision like a person's, made beforehand: uncertain becomes pending, under the same Message-ID. The attempt
 * that ended in silence has been counted, so this ends after `maxAttempts` like every retry, and the email then stays
 * uncertain for a person to see. What was uncertain may have been taken, and stays in doubt for good (in-doubt). Two sweeps at once skip each other's rows.
 */
const resend = (now: string) => `
  with found as materialized (
    select id from postrider.scheduled_actions
    where needs_attention and on_uncertain = 'resend' and state = 'uncertain' and attempts < $1
    order by id limit $2 for update skip locked
  )
  update postrider.scheduled_actions set
    state = 'pending', in_doubt = true, needs_attention = false, lease_token = null, state_at = ${now}, run_at = ${now} + $3 * interval '1 ms',
    wake_at = ${now} + $3 * interval '1 ms', reason_code = 'resent',
    reason = 'The reply never came, and its sender chose to send it again.'
  where id = any (array(select id from found)) and state = 'uncertain'
  returning id`

export async function resendUncertain(
  sql: Sql,
  { maxAttempts, waitMs, limit }: { maxAttempts: number; waitMs: number; limit: number },
): Promise<string[]> {
  const { rows } = await sql.query<{ id: string }>(resend(sql.now), [maxAttempts, limit, waitMs])
  return rows.map(({ id }) => id)
}
