import { openPostrider, type Place } from './open-postrider.js'
import { fill } from './outbox.js'

/** Accepts emails through the library in batches, in a process without workers: due at once, or one after the other. */
export interface FeedTask {
  readonly place: Place
  readonly emails: number
  /** So many fall due each second, beginning when all are accepted; null for due at once. */
  readonly perSecond: number | null
}

export interface Feeding {
  readonly seconds: number
  /** Committed. */
  readonly perSecond: number
  /** When the last one falls due, by this machine's clock. */
  readonly lastDueAt: number
}

/** Emails a second, for planning only. */
const SLOWEST_ACCEPT = 4_000
const READY_MS = 5_000

export async function feed({ place, emails, perSecond }: FeedTask): Promise<Feeding> {
  const postrider = await openPostrider(place)
  const from = performance.now()
  const firstDueAt = Date.now() + READY_MS + (emails / SLOWEST_ACCEPT) * 1_000
  const dueAt = (i: number) => firstDueAt + (i * 1_000) / perSecond!
  await fill(postrider, emails, perSecond === null ? undefined : (i) => ({ scheduledAt: new Date(dueAt(i)) }))
  if (perSecond !== null && Date.now() > firstDueAt) throw new Error('Accepting took longer than planned for.')
  const seconds = (performance.now() - from) / 1_000
  await postrider.stop()
  return { seconds, perSecond: emails / seconds, lastDueAt: perSecond === null ? Date.now() : dueAt(emails - 1) }
}
