import { loadavg } from 'node:os'
import { readBusySeconds } from '../support/machine.js'
import type { Entry } from './entries.js'
import { openNodemailer } from './nodemailer.js'
import { openPostrider, type Place } from './open-postrider.js'
import { fill, requireAllSent, tally, untilIdle } from './outbox.js'
import type { Stage } from './role.js'

/** One contender hands a number of emails to the sink. */
export interface Delivery {
  /** Of the machine in the minute before: tells a disturbed round from a slow one. */
  readonly loadBefore: number
  /** Into the outbox, before any worker; null for who has none. */
  readonly acceptedPerSecond: number | null
  readonly seconds: number
  readonly perSecond: number
  /** Of the contender's own process while it delivered. */
  readonly cpuSeconds: number
  /** Of the whole machine: the sink's share is in here, the database's, and everybody else's. */
  readonly machineCpuSeconds: number
  readonly rssPeakMb: number
}

/** What a contender can do, in the words of none of them. */
export interface Contender {
  /** As durable as the contender makes it; null when there is nothing of that kind. */
  readonly accept: ((emails: number) => Promise<void>) | null
  /** Resolves when all are with the sink and, for who keeps records, written down as such. Throws if one is not. */
  deliver(emails: number): Promise<void>
  /** Looks whether every single one went out; not part of the time. */
  verify(emails: number): Promise<void>
  close(): Promise<void>
}

export interface DeliverTask {
  readonly entry: Entry
  readonly emails: number
  readonly place: Place & { readonly smtp: NonNullable<Place['smtp']> }
}

export async function deliver({ entry, emails, place }: DeliverTask, { watch }: Stage<null>): Promise<Delivery> {
  const loadBefore = loadavg()[0]!
  const contender = entry.name === 'nodemailer' ? openNodemailer(place.smtp) : await openOutbox(place)
  const accepted = performance.now()
  await contender.accept?.(emails)
  const acceptSeconds = (performance.now() - accepted) / 1_000

  const unwatch = await watch()
  const cpuBefore = process.cpuUsage()
  const busyBefore = readBusySeconds()
  const from = performance.now()
  await contender.deliver(emails)
  const seconds = (performance.now() - from) / 1_000
  const cpu = process.cpuUsage(cpuBefore)
  const machineCpuSeconds = readBusySeconds() - busyBefore
  const rssPeakMb = process.resourceUsage().maxRSS / 1_024

  await unwatch()
  await contender.verify(emails)
  await contender.close()
  return {
    loadBefore,
    acceptedPerSecond: contender.accept && emails / acceptSeconds,
    seconds,
    perSecond: emails / seconds,
    cpuSeconds: (cpu.user + cpu.system) / 1e6,
    machineCpuSeconds,
    rssPeakMb,
  }
}

async function openOutbox(place: Place): Promise<Contender> {
  const postrider = await openPostrider(place)
  return {
    accept: (emails) => fill(postrider, emails),
    async deliver() {
      await postrider.start()
      await untilIdle(postrider)
    },
    verify: async (emails) => requireAllSent(await tally(postrider), emails),
    close: () => postrider.stop(),
  }
}
