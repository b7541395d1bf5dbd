import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from '../../src/db/client.js'
import { createPostrider, type Postrider } from '../../src/index.js'
import { startJudge } from '../kill/judge.js'
import { silent } from '../support/kernel.js'
import { until } from '../support/until.js'
import { type Replayer, startReplayer } from './replayer.js'

/**
 * Emails are accepted and sent by several workers, each with a relay, while their broker is away, comes, forgets
 * everything, is killed and comes back; and at the end stays away. All the while every message is delivered twice. What
 * counts is what the mail server took.
 */
export interface BrokerServer {
  readonly url: string
  start(): Promise<void>
  kill(): Promise<void>
  /** Makes it forget what it holds, if it can. */
  forget?(): Promise<void>
}

export interface BrokerStormOptions {
  readonly databaseUrl: string
  readonly dataDirectory: string
  /** Not running yet: the workers start without it. */
  readonly server: BrokerServer
  readonly brokerUrl: string
  readonly emails: number
  /** Whom they go to, so that several storms may share a database. */
  readonly domain: string
  readonly workers: number
  readonly concurrency?: number
  /** How long the broker stays away each time. */
  readonly awayMs: number
  readonly report?: (line: string) => void
}

export interface BrokerStorm {
  /** Emails the mail server took, and how often the most often taken was. */
  readonly taken: number
  readonly most: number
  /** Emails by the state they ended in. */
  readonly states: Readonly<Record<string, number>>
  /** Hints that were confirmed by the broker, and copies of them that somebody else gave it. */
  readonly published: number
  readonly copies: number
  /** Messages that found nothing to do. */
  readonly dropped: number
  /** Hints the sweep published again, and of those how many it called lost. */
  readonly repeated: number
  readonly lost: number
  /** How long after each of the broker's returns the last email went out that had waited for it. */
  readonly caughtUpMs: readonly number[]
  /** From accepted to offered to the mail server, over all emails. */
  readonly waitMs: { readonly p50: number; readonly p99: number; readonly worst: number }
  readonly seconds: number
  /** Rows that were left to be told of. */
  readonly left: number
}

export const SWEEP_MS = 1_000
const BATCH = 50
/** Accepted ahead of what was sent, so that there is always something to lose. */
const AHEAD = 300

export async function runBrokerStorm(options: BrokerStormOptions): Promise<BrokerStorm> {
  const { databaseUrl, dataDirectory, server, brokerUrl, emails, workers, awayMs } = options
  const judge = startJudge()
  const db = connect({ connection: { connectionString: databaseUrl }, maxConnections: 2 })
  const fleet: Postrider[] = []
  const door = await judge.openDoor('broker storm')
  const open = async () => {
    const postrider = await createPostrider({
      databaseUrl,
      dataDirectory,
      brokerUrl,
      migrate: false,
      sweepMs: SWEEP_MS,
      concurrency: options.concurrency ?? 10,
      smtpUrl: `smtp://127.0.0.1:${door.port}?pool=10`,
      mailFrom: { name: 'Storm', address: 'storm@sender.test' },
      secret: 'a secret of the broker storm',
      maxConnections: 5,
      log: silent,
    })
    fleet.push(postrider)
    return postrider
  }
  const sent = () => judge.handOvers.length
  const began = performance.now()
  const beganAt = Date.now()
  const report = (line: string) => options.report?.(`${((performance.now() - began) / 1_000).toFixed(1)} s: ${line}`)
  let replayer: Replayer | undefined
  /** When each email was accepted, and when the broker came back. */
  const acceptedAt: number[] = []
  const returnedAt: number[] = []
  const count = async (what: string) =>
    (await db.query<{ count: number }>(`select count(*)::int as count from ${what}`)).rows[0]!.count

  try {
    const api = await open()
    const workersOf = await Promise.all(Array.from({ length: workers }, open))
    replayer = await startReplayer(databaseUrl, brokerUrl)
    await Promise.all(workersOf.map((worker) => worker.start()))

    /** Accepts up to a part of all emails, while they are being sent; spread over a time if one is given. */
    const feed = async (part: number, overMs = 0) => {
      const from = { at: performance.now(), accepted: acceptedAt.length }
      const goal = Math.round(emails * part)
      while (acceptedAt.length < goal) {
        const batch = Array.from({ length: Math.min(BATCH, goal - acceptedAt.length) }, (_, i) => ({
          to: `email${acceptedAt.length + i}@${options.domain}`,
          subject: 'Storm',
          text: 'Hello.',
        }))
        await api.emails.sendBatch(batch)
        acceptedAt.push(...batch.map(() => Date.now()))
        await until('room', () => acceptedAt.length - sent() < AHEAD, { withinMs: 120_000, everyMs: 5 })
        const share = (acceptedAt.length - from.accepted) / (goal - from.accepted)
        await sleep(Math.max(0, from.at + share * overMs - performance.now()))
      }
    }

    /** Comes while emails come; all workers find it by themselves. */
    const comeBack = async (part: number) => {
      const coming = server.start().then(() => void returnedAt.push(Date.now()))
      await Promise.all([coming, feed(part)])
      await until(
        'every worker uses the broker',
        async () => (await Promise.all(workersOf.map((worker) => readMetric(worker, 'broker_up')))).every(Boolean),
        { withinMs: 60_000, everyMs: 100 },
      )
    }

    await feed(0.1, awayMs)
    report(`${sent()} sent before the broker was there`)
    await comeBack(0.15)
    report('it came, and is used')
    await feed(0.4)
    if (server.forget) {
      await server.forget()
      report(`it forgot everything after ${sent()}`)
      await feed(0.55)
    }
    await server.kill()
    report(`killed after ${sent()}`)
    await feed(0.65, awayMs)
    await comeBack(0.7)
    report('it came back, and is used')
    await feed(0.9)
    await replayer.caughtUp()
    await server.kill()
    report(`gone for good after ${sent()}`)
    await feed(1)
    await until('all went out', () => sent() >= emails, { withinMs: 120_000 })
    await until('all are settled', async () => (await count('postrider.leases')) === 0)
    const states = await db.query<{ state: string; count: number }>(
      `select state, count(*)::int as count from postrider.scheduled_actions
       where payload ->> 'recipient' like '%@' || $1 group by state`,
      [options.domain],
    )
    const sum = async (metric: string) =>
      (await Promise.all(workersOf.map((worker) => readMetric(worker, metric)))).reduce((all, one) => all + one, 0)
    await until('nothing is left to be told of', async () => (await count('postrider.published_hints')) === 0)
    const offers = new Map<string, number[]>()
    for (const { recipient, taken, at } of judge.handOvers)
      if (taken) offers.set(recipient, [...(offers.get(recipient) ?? []), at])
    const firstOffers = acceptedAt.map((_, i) => offers.get(`email${i}@${options.domain}`)?.[0] ?? Number.NaN)
    const waits = firstOffers.map((at, i) => at - acceptedAt[i]!).toSorted((a, b) => a - b)
    const longest = firstOffers.findIndex((at, i) => waits.at(-1) === at - acceptedAt[i]!)
    report(`the longest wait began after ${((acceptedAt[longest]! - beganAt) / 1_000).toFixed(1)} s`)
    return {
      taken: offers.size,
      most: Math.max(...[...offers.values()].map(({ length }) => length)),
      states: Object.fromEntries(states.rows.map(({ state, count }) => [state, count])),
      published: await sum('hints_published_total'),
      copies: replayer.copies,
      dropped: await sum('hints_dropped_total'),
      repeated: await sum('hints_repeated_total'),
      lost: await sum('hints_lost_total'),
      caughtUpMs: returnedAt.map((returned) =>
        Math.max(
          0,
          ...firstOffers.filter((at, i) => acceptedAt[i]! <= returned && at > returned).map((at) => at - returned),
        ),
      ),
      waitMs: {
        p50: waits[Math.floor(waits.length * 0.5)]!,
        p99: waits[Math.floor(waits.length * 0.99)]!,
        worst: waits.at(-1)!,
      },
      seconds: Math.round((performance.now() - began) / 1_000),
      left: await count('postrider.ready_actions'),
    }
  } finally {
    await replayer?.stop()
    await Promise.all(fleet.map((postrider) => postrider.stop()))
    await db.close()
    await judge.close()
  }
}

async function readMetric(postrider: Postrider, name: string): Promise<number> {
  const answer = await postrider.fetch(new Request('http://localhost/metrics'))
  return Number(new RegExp(`^postrider_${name}\\{.*\\} (\\d+)`, 'm').exec(await answer.text())?.[1] ?? 0)
}
