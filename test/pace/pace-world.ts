import { readNow } from '../../src/db/sender-days.js'
import { insertSender, type Sender } from '../../src/db/senders.js'
import { OPEN_PACE, type Pace } from '../../src/domain/pace.js'
import { DEFAULT_WORKSPACE, newId } from '../../src/id.js'
import type { TestDatabase } from '../support/test-database.js'

/** Senders with a pace and emails in the hands of a worker, on a database whose clock is set. */
export const PARIS: Pace = { ...OPEN_PACE, timezone: 'Europe/Paris', startMinute: 540, endMinute: 1_020 }

export interface StoredDay {
  readonly booked: number
  /** Seconds since 1970. */
  readonly slots: readonly number[]
}

export interface LeasedEmail {
  readonly actionId: string
  readonly leaseToken: string
}

export function openPaceWorld(database: TestDatabase) {
  const { db } = database
  return {
    /** The clock of the database is then this instant, and a moment more for every statement. */
    async goTo(instant: string) {
      const now = await readNow(db)
      await database.shiftClock(Date.parse(instant) - now.getTime())
    },

    async sender(pace: Partial<Pace> | null, rampUpFrom: string | null = null): Promise<Sender> {
      const id = newId()
      const address = `${id}@sender.test`
      const fields = { name: null, address, foldedAddress: address, provider: 'capture' as const, credentials: null }
      const made = await insertSender(db, DEFAULT_WORKSPACE, id, {
        ...fields,
        isDefault: false,
        pace: pace && { ...PARIS, ...pace },
        rampUpFrom,
      })
      return made!
    },

    async changePace({ id }: Sender, pace: Partial<Pace>) {
      await db.query(`update postrider.senders set pace = $2 where id = $1`, [
        id,
        JSON.stringify({ ...PARIS, ...pace }),
      ])
    },

    /** An email that a worker holds, with its booking in the sender's day. */
    async leased({ id: senderId }: Sender, day: string | null, slot: string | null = null): Promise<LeasedEmail> {
      const [actionId, leaseToken] = [newId(), newId()]
      await db.query(
        `insert into postrider.scheduled_actions
           (id, workspace_id, lane_id, type, dedupe_key, state, run_at, lease_token, booked_on, slot_at)
         values ($1::uuid, $2, $3, 'send', $1::uuid::text, 'leased', ${db.now}, $4, $5, $6)`,
        [actionId, DEFAULT_WORKSPACE, newId(), leaseToken, day, slot],
      )
      if (day !== null)
        await db.query(
          `insert into postrider.sender_days as old (sender_id, day, booked, slots) values ($1, $2, 1, $3)
           on conflict (sender_id, day) do update set booked = old.booked + 1,
             slots = array(select unnest(old.slots || excluded.slots) as slot order by slot)`,
          [senderId, day, slot === null ? [] : [(Date.parse(slot) - Date.parse(day)) / 1_000]],
        )
      return { actionId, leaseToken }
    },

    async bookingOf({ actionId }: LeasedEmail) {
      const { rows } = await db.query<{ day: string | null; at: Date | null }>(
        `select booked_on::text as day, slot_at as at from postrider.scheduled_actions where id = $1`,
        [actionId],
      )
      return rows[0]!
    },

    async daysOf({ id }: Sender): Promise<ReadonlyMap<string, StoredDay>> {
      const { rows } = await db.query<{ day: string; booked: number; slots: number[] }>(
        `select day::text, booked, slots from postrider.sender_days where sender_id = $1 and booked > 0 order by day`,
        [id],
      )
      return new Map(
        rows.map(({ day, booked, slots }) => [
          day,
          { booked, slots: slots.map((slot) => Date.parse(day) / 1_000 + slot) },
        ]),
      )
    },

    async turnOf({ id }: Sender): Promise<Date | null> {
      const { rows } = await db.query<{ at: Date | null }>(
        `select turn_at as at from postrider.senders where id = $1`,
        [id],
      )
      return rows[0]!.at
    },

    async setTurn({ id }: Sender, at: string) {
      await db.query(`update postrider.senders set turn_at = $2 where id = $1`, [id, at])
    },

    /** Whether a transaction waits for what another one holds. */
    async isWaiting(): Promise<boolean> {
      const { rows } = await db.query<{ waiting: boolean }>(
        `select exists (select from pg_stat_activity
           where datname = current_database() and wait_event_type = 'Lock') as waiting`,
      )
      return rows[0]!.waiting
    },
  }
}

/** How far apart neighbours are, in the units given. */
export const gapsBetween = (instants: readonly number[]): number[] => {
  const inOrder = instants.toSorted((a, b) => a - b)
  return inOrder.slice(1).map((at, i) => at - inOrder[i]!)
}
