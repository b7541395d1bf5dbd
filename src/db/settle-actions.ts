import type { Outcome, Settlement } from '../domain/action.js'
import type { Sql } from './client.js'
import { FENCED, writeFence } from './fence.js'
import { IN_DOUBT } from './in-doubt.js'
import { countSent } from './count-sent.js'
import { endTurns } from './turns.js'
import { storable } from './storable.js'
import { recordAttempts, suppressRefused } from './record-attempts.js'
import { readWrittenIds, writtenIds } from './written-ids.js'

/**
 * Writes what became of actions, each fenced by the token of its lease. No action may be in it twice.
 *
 * A worker settles what it holds. One that lost the lease of an armed action, and learned the answer later, may still
 * settle it while it is `uncertain` under the same token: that answer is the evidence everybody waits for. In any other
 * state or under any other token nothing is written: somebody else has decided.
 *
 * `done` needs `armed`: an action that was handed over without being armed must not look as if all went well.
 * A `done` is also heard under an older token once an action in doubt is uncertain: whichever hand-over was taken, the
 * email went out. No other answer is: that an earlier hand-over was refused says nothing about the later one. While it
 * waits to be sent again, or is being sent, an older answer changes nothing either: somebody decided. It is kept as an
 * attempt, for people to see.
 *
 * An action in doubt that is refused or skipped ends `uncertain` (in-doubt).
 *
 * Settling `release` from armed says "I never handed it over": only the holder of the token can know that.
 *
 * A crash before the commit leaves the actions leased or armed, and the lease's end decides.
 */

const settleDone = (now: string, also: string, after: string) =>
  writtenIds(
    `
  update postrider.scheduled_actions set
    state = 'done', attempts = attempts + case state when 'uncertain' then 0 else 1 end, lease_token = null,
    needs_attention = false, reason = null, reason_code = null, state_at = ${now}
  where id = any ($1::uuid[])
    and (${FENCED} and state in ('armed', 'uncertain') or in_doubt and state = 'uncertain')
  returning id`,
    also,
    after,
  )

// The outcomes travel as one object keyed by id instead of a table to join with: no join, no plan to get wrong.
const settleOther = (now: string, also: string, after: string) =>
  writtenIds(
    `
  update postrider.scheduled_actions action set
    (state, run_at, wake_at, attempts, lease_token, needs_attention, on_uncertain, reason, reason_code, state_at) = (
      select becomes,
        case when wait_ms > 0 then due else run_at end,
        case becomes when 'pending' then case when wait_ms > 0 then due else ${now} end end,
        -- An uncertain action has had this attempt counted when it became uncertain.
        attempts + case when state = 'uncertain' then 0 else counts end,
        case when ends_in_doubt then id when becomes = 'uncertain' then lease_token end,
        becomes in ('failed', 'uncertain'),
        case when not ends_in_doubt then on_uncertain end,
        case when kind = 'release' then reason
          when ends_in_doubt then rtrim(outcome ->> 'reason', '. ') || '. ${IN_DOUBT}'
          else outcome ->> 'reason' end,
        case kind when 'release' then reason_code else outcome ->> 'code' end,
        case becomes when state then state_at else ${now} end
      from (select outcome, kind, ends_in_doubt, (outcome ->> 'counts')::int as counts,
          (outcome ->> 'wait')::float8 as wait_ms,
          ${now} + (outcome ->> 'wait')::float8 * interval '1 millisecond' as due,
          case when kind in ('retry', 'release') then 'pending' when ends_in_doubt then 'uncertain' else kind end
            as becomes
        from (select outcome, outcome ->> 'kind' as kind,
            action.in_doubt and outcome ->> 'kind' in ('failed', 'skipped') as ends_in_doubt
          from (select $3::jsonb -> action.id::text as outcome) given) asked) decided)
  where id = any ($1::uuid[]) and ${FENCED}
    and case $3::jsonb -> id::text ->> 'kind'
      when 'uncertain' then state = 'armed'
      when 'skipped' then state = 'leased'
      else state in ('leased', 'armed', 'uncertain') end
  returning id`,
    also,
    after,
  )

/** Returns the ids that were written; the others are no longer this token's to settle. */
export async function settleActions(sql: Sql, settlements: readonly Settlement[]): Promise<ReadonlySet<string>> {
  const done = settlements.filter(({ outcome }) => outcome.kind === 'done')
  await endTurns(sql, done)
  if (done.length === settlements.length) return write(sql, settleDone, done)
  const others = settlements.filter(({ outcome }) => outcome.kind !== 'done')
  const outcomes = Object.fromEntries(others.map(({ id, outcome }) => [id, encode(outcome)]))
  const written = await write(sql, settleOther, others, [JSON.stringify(outcomes)])
  if (done.length === 0) return written
  return new Set([...written, ...(await write(sql, settleDone, done))])
}

async function write(
  sql: Sql,
  statement: (now: string, also: string, after: string) => string,
  settlements: readonly Settlement[],
  more: readonly string[] = [],
): Promise<ReadonlySet<string>> {
  const ids = settlements.map(({ id }) => id)
  const values = [...writeFence(settlements), ...more]
  const attempts = recordAttempts(sql.now, settlements, values.length + 1)
  const suppressions = suppressRefused(sql.now, settlements, values.length + attempts.values.length + 1)
  const sent = countSent(settlements, values.length + attempts.values.length + suppressions.values.length + 1)
  const after = [suppressions, sent].map((step) => step.statement).filter(Boolean)
  const parameters = [...values, ...attempts.values, ...suppressions.values, ...sent.values]
  // Each combination is a text of its own, and so has a name of its own.
  const name = `${statement.name} ${attempts.values.length} ${suppressions.values.length} ${sent.values.length}`
  const answer = await sql.query(statement(sql.now, attempts.statement, after.join(', ')), parameters, { name })
  return readWrittenIds(answer, ids)
}

function encode(outcome: Outcome) {
  const { kind } = outcome
  const reason =
    'reason' in outcome ? { reason: storable(outcome.reason.text), code: storable(outcome.reason.code) } : {}
  const counts = kind === 'failed' || kind === 'uncertain' || (kind === 'retry' && outcome.counts !== false) ? 1 : 0
  const wait = kind === 'retry' || kind === 'release' ? (outcome.waitMs ?? 0) : 0
  return { kind, counts, wait, ...reason }
}
