import type { Sql } from '../db/client.js'
import { readSenderStates } from '../db/sender-states.js'
import { listSenders, type Sender } from '../db/senders.js'
import { localDayOf, OPEN_PACE, quotaOn } from '../domain/pace.js'
import type { SenderQuota } from './sender-quota.js'

/** A sender, whether it sends, and how much of its day is used. */
export interface SenderHealth {
  readonly sender: Sender
  readonly state: 'active' | 'slowed' | 'paused'
  /** Slowed down by its mail server until then. */
  readonly heldUntil: Date | null
  readonly today: SenderQuota
}

export async function readSenderHealth(sql: Sql, workspaceId: string, now: Date): Promise<SenderHealth[]> {
  const senders = await listSenders(sql, workspaceId)
  const days = senders.map((sender) => ({ senderId: sender.id, day: localDayOf(sender.pace ?? OPEN_PACE, now) }))
  const states = await readSenderStates(sql, days)
  return senders.map((sender, i) => {
    const { day } = days[i]!
    const { booked, sent, heldUntil } = states.get(sender.id)!
    const quota = quotaOn(sender.pace ?? OPEN_PACE, sender.rampUpFrom, day)
    const remaining = quota === null ? null : Math.max(quota - booked, 0)
    return {
      sender,
      state: sender.pausedAt ? 'paused' : heldUntil ? 'slowed' : 'active',
      heldUntil,
      today: { date: day, quota, booked, sent, remaining },
    }
  })
}
