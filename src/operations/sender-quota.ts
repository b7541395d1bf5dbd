import { findSenderDay, readNow } from '../db/sender-days.js'
import type { Sql } from '../db/client.js'
import type { Sender } from '../db/senders.js'
import { localDayOf, OPEN_PACE, quotaOn } from '../domain/pace.js'

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
