import { setTimeout as sleep } from 'node:timers/promises'
import type { Sql } from '../../src/db/client.js'
import type { ActionState } from '../../src/domain/states.js'

/** What the database says of one email to one recipient, after all is over. */
export interface EmailRecord {
  readonly recipient: string
  readonly id: string
  readonly messageId: string
  readonly state: ActionState
  readonly reasonCode: string | null
  readonly attempts: number
  readonly rescues: number
  /** On record: it was handed over again although nobody could know about an earlier time. */
  readonly inDoubt: boolean
  /** The outcomes of its attempts, in their order, with the process that made each. */
  readonly outcomes: readonly { readonly outcome: string; readonly worker: string }[]
}

const RECORDS = `
  select payload ->> 'recipient' as recipient, message.id, message.message_id as "messageId", state,
    reason_code as "reasonCode", attempts, rescues, in_doubt as "inDoubt",
    coalesce((select json_agg(json_build_object('outcome', outcome, 'worker', worker) order by at, attempts.id)
      from postrider.attempts where action_id = action.id), '[]') as outcomes
  from postrider.scheduled_actions action join postrider.messages message on message.id = action.message_id
  where type = 'send' and payload ->> 'recipient' like '%@' || $1`

/** Of the emails to one domain. */
export async function readRecords(db: Sql, domain: string): Promise<EmailRecord[]> {
  return (await db.query<EmailRecord>(RECORDS, [domain])).rows
}

export async function countLeases(db: Sql): Promise<number> {
  const { rows } = await db.query<{ count: number }>('select count(*)::int as count from postrider.leases')
  return rows[0]!.count
}

export async function countStates(db: Sql): Promise<Readonly<Partial<Record<ActionState, number>>>> {
  const { rows } = await db.query<{ state: ActionState; count: number }>(
    `select state, count(*)::int as count from postrider.scheduled_actions where type = 'send' group by state`,
  )
  return Object.fromEntries(rows.map(({ state, count }) => [state, count]))
}

export interface SettledOptions {
  /** Grows as long as something happens elsewhere. */
  readonly progress?: () => number
  /** An uncertain email whose sender chose to send it again is not over before its attempts are used up. */
  readonly resendUpTo?: number
  /** Said when nothing moves any more. */
  readonly describe?: () => string
  readonly patienceMs?: number
}

const UNSETTLED = `
  select id, state, reason_code, run_at, attempts, rescues, lease_token from postrider.scheduled_actions
  where type = 'send' and (state in ('pending', 'leased', 'armed')
    or (state = 'uncertain' and on_uncertain = 'resend' and attempts < $1))
  order by id limit 20`

/**
 * Waits until every email is in a state it stays in and no lease is left. There is no limit to how long that takes, only
 * to how long nothing moves: then it says what is stuck.
 */
export async function untilSettled(db: Sql, options: SettledOptions = {}): Promise<void> {
  const { progress = () => 0, resendUpTo = 0, patienceMs = 60_000, describe = () => '' } = options
  let before = ''
  let since = performance.now()
  for (;;) {
    const { rows } = await db.query<Record<string, unknown>>(UNSETTLED, [resendUpTo])
    const leases = await countLeases(db)
    if (rows.length === 0 && leases === 0) return
    const now = JSON.stringify([await countStates(db), leases, progress()])
    if (now !== before) since = performance.now()
    before = now
    if (performance.now() - since > patienceMs) {
      const stuck = rows.map((row) => JSON.stringify(row)).join('\n')
      throw new Error(
        `Nothing moved for ${patienceMs} ms; ${leases} leases and these are left:\n${stuck}\n${describe()}`,
      )
    }
    await sleep(100)
  }
}
