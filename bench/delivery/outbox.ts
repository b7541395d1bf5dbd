import { setTimeout as sleep } from 'node:timers/promises'
import type { Postrider } from '../../src/index.js'
import { emailTo } from './email.js'

const FAR_MS = 100
const NEAR_MS = 20
const NEAR = 1_000

/** When the database says that nothing is due and nothing is under way. Seldom asked while there is much left. */
export async function untilIdle(postrider: Postrider): Promise<void> {
  for (;;) {
    const { due, leases } = await postrider.backlog()
    if (due === 0 && leases === 0) return
    await sleep(due > NEAR ? FAR_MS : NEAR_MS)
  }
}

export interface Tally {
  /** Emails in the database. */
  readonly emails: number
  /** Those that are done. */
  readonly done: number
  /** Hand-overs that were accepted, and others. */
  readonly accepted: number
  readonly otherAttempts: number
}

export async function tally(postrider: Postrider): Promise<Tally> {
  const { rows } = await postrider.context.db.query<Tally>(
    `select (select count(*)::int from postrider.messages) as emails,
       (select count(*)::int from postrider.scheduled_actions where state = 'done') as done,
       (select count(*)::int from postrider.attempts where outcome = 'accepted') as accepted,
       (select count(*)::int from postrider.attempts where outcome <> 'accepted') as "otherAttempts"`,
  )
  return rows[0]!
}

/** A figure about emails that did not all go out is no figure. */
export function requireAllSent(found: Tally, expected: number): void {
  const { emails, done, accepted, otherAttempts } = found
  if (emails !== expected || done !== expected || accepted !== expected || otherAttempts !== 0)
    throw new Error(`${expected} emails were to be sent, but the database says ${JSON.stringify(found)}.`)
}

const BATCH = 100
const CALLERS = 2

/** Into the outbox, in batches. */
export async function fill(
  postrider: Postrider,
  emails: number,
  more: (i: number) => { scheduledAt?: Date } = () => ({}),
): Promise<void> {
  let next = 0
  const caller = async () => {
    while (next < emails) {
      const first = next
      next = Math.min(emails, first + BATCH)
      await postrider.emails.sendBatch(
        Array.from({ length: next - first }, (_, i) => ({ ...emailTo(first + i), ...more(first + i) })),
      )
    }
  }
  await Promise.all(Array.from({ length: CALLERS }, caller))
}
