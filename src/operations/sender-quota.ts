import type { Sql } from '../db/client.js'
import { findSenderDay, readNow } from '../db/sender-days.js'
import { findSender, listSenders, type Sender } from '../db/senders.js'
import { localDayOf, OPEN_PACE, quotaOn } from '../domain/pace.js'
import { readIsoDate } from '../domain/zone-days.js'
import { PostriderError } from '../errors.js'
import { readId } from '../id.js'
import type { Context } from './context.js'
import { findAvailableSlot } from './find-available-slot.js'

/** A sender's quota on a day of its own calendar. */
export interface SenderQuota {
  readonly date: string
  /** Null: as many as there are. */
  readonly quota: number | null
  /** Planned for that day, gone out or not. */
  readonly booked: number
  readonly sent: number
  readonly remaining: number | null
}

/** Without a date, today's. */
export async function readSenderQuota(sql: Sql, sender: Sender, date?: string): Promise<SenderQuota> {
  const pace = sender.pace ?? OPEN_PACE
  const day = date ?? localDayOf(pace, await readNow(sql))
  const quota = quotaOn(pace, sender.rampUpFrom, day)
  const { booked, sent } = await findSenderDay(sql, sender.workspaceId, sender.id, day)
  return { date: day, quota, booked, sent, remaining: quota === null ? null : Math.max(quota - booked, 0) }
}

/** What the library's functions need of a Postrider: `mail.context`. */
type Reading = Pick<Context, 'db'>

/** Without `senderId` (`snd_…`), the default sender. */
export interface OfSender {
  readonly senderId?: string
}

/** How many of the emails booked on a day have gone out. The day is `2026-12-25`, or an instant on it. */
export const getDailySentCount = async (context: Reading, workspaceId: string, day: string | Date, of: OfSender = {}) =>
  (await quotaOf(context, workspaceId, day, of)).sent

/** How many can still be booked on a day; null: as many as there are. */
export const getRemainingQuota = async (context: Reading, workspaceId: string, day: string | Date, of: OfSender = {}) =>
  (await quotaOf(context, workspaceId, day, of)).remaining

/** The first instant from `after` on when the window is open and quota is left; null: not within two years. */
export const getNextAvailableSlot = async (
  { db }: Reading,
  workspaceId: string,
  after: Date,
  of: OfSender = {},
): Promise<Date | null> => findAvailableSlot(db, await senderOf(db, workspaceId, of), after)

async function quotaOf({ db }: Reading, workspaceId: string, day: string | Date, of: OfSender): Promise<SenderQuota> {
  const sender = await senderOf(db, workspaceId, of)
  const date = day instanceof Date ? localDayOf(sender.pace ?? OPEN_PACE, day) : day
  if (readIsoDate(date) === null)
    throw new PostriderError('sender_invalid', `${JSON.stringify(date)} is not a day: write it as 2026-12-25.`)
  return readSenderQuota(db, sender, date)
}

async function senderOf(sql: Sql, workspaceId: string, { senderId }: OfSender): Promise<Sender> {
  const found =
    senderId === undefined
      ? (await listSenders(sql, workspaceId)).find(({ isDefault }) => isDefault)
      : await findSender(sql, workspaceId, readId('snd', senderId) ?? '')
  if (!found) throw new PostriderError('sender_not_found', 'There is no such sender.')
  return found
}
