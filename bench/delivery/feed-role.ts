import { setTimeout as sleep } from 'node:timers/promises'
import { emailTo } from './email.js'
import { openPostrider, type Place } from './open-postrider.js'
import { fill } from './outbox.js'

/** Accepts emails through the library, in a process without workers: as fast as it can, or so many a second. */
export interface FeedTask {
  readonly place: Place
  readonly emails: number
  /** Single emails by the clock; null for batches, one after the other. */
  readonly perSecond: number | null
}

export interface Feeding {
  readonly seconds: number
  /** Committed. Less than asked for means that this process, not the worker, was the limit. */
  readonly perSecond: number
}

export async function feed({ place, emails, perSecond }: FeedTask): Promise<Feeding> {
  const postrider = await openPostrider(place)
  const from = performance.now()
  if (perSecond === null) await fill(postrider, emails)
  else {
    const calls: Promise<unknown>[] = []
    // By the clock, not one after the other: if an answer is late, no less is asked for.
    for (let i = 0; i < emails; i++) {
      const early = from + (i * 1_000) / perSecond - performance.now()
      if (early > 0) await sleep(early)
      calls.push(postrider.emails.send(emailTo(i)))
    }
    await Promise.all(calls)
  }
  const seconds = (performance.now() - from) / 1_000
  await postrider.stop()
  return { seconds, perSecond: emails / seconds }
}
