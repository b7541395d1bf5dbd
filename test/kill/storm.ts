import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from '../../src/db/client.js'
import type { BuiltPackage } from '../support/build-package.js'
import { seededRandom, shuffle } from '../support/seeded-random.js'
import { until } from '../support/until.js'
import { askAgain, startCallers, type Wish } from './callers.js'
import { type Role, startFleet } from './fleet.js'
import { type Chaos, type Point, startJudge } from './judge.js'
import { readRecords, untilSettled } from './records.js'
import { judge, type Verdict } from './verdict.js'

/**
 * Emails are accepted and sent while processes are killed, at random and at every point of a conversation, and the mail
 * server misbehaves. Then everything comes to rest, and the judge is heard.
 */
export interface StormOptions {
  readonly built: BuiltPackage
  readonly databaseUrl: string | null
  readonly brokerUrl?: string
  readonly dataDirectory: string
  /** A connection of the test's own, to be opened when the last kill is over. */
  readonly open: () => Promise<Database>
  /** At least so many: there are more when somebody who is aimed at has nothing left to do. */
  readonly emails: number
  readonly kills: number
  readonly onUncertain: 'hold' | 'resend'
  readonly seed: number
  readonly report?: (line: string) => void
}

export interface Storm extends Verdict {
  /** What the processes ended with when they were asked to. */
  readonly ends: readonly (number | NodeJS.Signals)[]
}

export interface AimedStorm extends Storm {
  /** Where somebody should have been killed, and nobody was. */
  readonly missed: readonly string[]
}

export const LEASE_MS = 2_000
const CONCURRENCY = 8
const MAX_ATTEMPTS = 12
const ROOM_MS = 10
const PATIENCE = { withinMs: 60_000, everyMs: 5 }
/**
 * Where processes are killed: a worker anywhere and at every point but the greeting, which is rare since connections are
 * kept; one that accepts while it owes somebody an answer.
 */
const STRIKES: readonly Strike[] = [
  { at: null, of: 'workers' },
  { at: 'data', of: 'workers' },
  { at: 'go', of: 'workers' },
  { at: 'body', of: 'workers' },
  { at: 'dot', of: 'workers' },
  { at: 'answered', of: 'workers' },
  { at: null, of: 'listeners' },
  { at: null, of: 'listeners' },
]
/** A round of kills that misses nothing. */
export const ROUND = STRIKES.length
/** Patience, and not a measure: on a machine that does ten other things it takes its time to come to a point. */
const AIMING_MS = 60_000
/** Emails that are let in for a kill, at the least. */
const ROOM = 5
const SPREAD_MS = 5_000
const INLINE = 0.1

interface Strike {
  readonly at: Point | null
  readonly of: 'workers' | 'listeners'
}

export const CHAOS: readonly Chaos[] = [
  { at: 'greeting', does: 421, chance: 0.01 },
  { at: 'greeting', does: 'drop', chance: 0.01 },
  { at: 'mail', does: 451, chance: 0.01 },
  { at: 'mail', does: 'reset', chance: 0.005 },
  { at: 'rcpt', does: 450, chance: 0.02 },
  { at: 'rcpt', does: 550, chance: 0.005 },
  { at: 'rcpt', does: 'drop', chance: 0.005 },
  { at: 'data', does: 451, chance: 0.01 },
  { at: 'data', does: 'reset', chance: 0.005 },
  { at: 'body', does: 'drop', chance: 0.003 },
  { at: 'body', does: 'reset', chance: 0.003 },
  { at: 'dot', does: 451, chance: 0.01 },
  { at: 'dot', does: 421, chance: 0.005 },
  { at: 'dot', does: 554, chance: 0.005 },
  { at: 'dot', does: 'drop', chance: 0.005 },
  { at: 'dot', does: 'reset', chance: 0.003 },
  { at: 'dot', does: 'taken-drop', chance: 0.005 },
  { at: 'dot', does: 'taken-reset', chance: 0.003 },
]

const ON_A_SERVER: readonly Role[] = [
  { name: 'worker A', works: true, listens: false, weight: 1 },
  { name: 'worker B', works: true, listens: false, weight: 1 },
  { name: 'worker C', works: true, listens: false, weight: 1 },
  { name: 'API', works: false, listens: true, weight: 1 },
]
const EMBEDDED: readonly Role[] = [
  { name: 'owner', works: true, listens: true, owns: true, weight: 2 },
  { name: 'attached A', works: true, listens: false, weight: 1 },
  { name: 'attached B', works: true, listens: false, weight: 1 },
]

export async function runStorm(options: StormOptions): Promise<AimedStorm> {
  const { built, databaseUrl, dataDirectory, emails, kills, onUncertain, seed, report = () => undefined } = options
  const [random, inline] = [seededRandom(seed), seededRandom(seed + 2)]
  // Several storms may share a database.
  const domain = `storm${seed}.test`
  const server = startJudge({ seed, chaos: CHAOS })
  const wishes: Wish[] = []
  const settings = { leaseMs: LEASE_MS, sweepMs: 500, concurrency: CONCURRENCY, maxAttempts: MAX_ATTEMPTS }
  const fleet = await startFleet({
    built,
    judge: server,
    roles: databaseUrl ? ON_A_SERVER : EMBEDDED,
    settings: {
      ...settings,
      databaseUrl,
      dataDirectory,
      waitsMs: [50, 100, 200],
      ...(options.brokerUrl !== undefined && { brokerUrl: options.brokerUrl }),
    },
  }).catch(async (error: unknown) => {
    await server.close()
    throw error
  })
  try {
    // Hand-overs, not emails: under heavy fire some are offered several times.
    const offered = () => server.handOvers.length
    const accepted = () => wishes.filter(({ ids }) => ids.size > 0).length
    // Work arrives as the killing goes on, so that every kill finds processes at it however fast the machine is; and
    // while somebody is being aimed at there is always some.
    let [limit, isAiming, isOver] = [emails / kills, false, false]
    const over = new AbortController()
    const goOn = () => over.signal.throwIfAborted()
    const next = async () => {
      for (; accepted() >= limit && !isAiming && !isOver; goOn()) await sleep(ROOM_MS)
      if (isOver && wishes.length >= emails) return null
      const wish = newWish(wishes.length, domain, onUncertain, inline.next() < INLINE)
      wishes.push(wish)
      return wish
    }
    const url = () => (goOn(), fleet.url())
    const callers = startCallers({ next, random: seededRandom(seed + 1), url })
    const struck = new Map<string, boolean>()
    const killing = (async () => {
      let round: Strike[] = []
      for (let kill = 1; kill <= kills; kill++) {
        if (round.length === 0) round = shuffle(STRIKES, random)
        const strike = round.pop()!
        const enough = offered() + random.next() * 0.8 * (limit - accepted())
        const latest = performance.now() + SPREAD_MS
        await until(
          `hand-overs before kill ${kill}`,
          () => (goOn(), offered() >= enough || performance.now() > latest),
          PATIENCE,
        )
        const victim = await fleet.choose(random, ({ works, listens }) => (strike.of === 'workers' ? works : listens))
        isAiming = true
        const asking = strike.of === 'listeners' && { asking: callers.asking }
        const isHit = await fleet.strike(victim, { at: strike.at, random, withinMs: AIMING_MS, ...asking })
        isAiming = false
        const where = `${strike.of} ${strike.at ?? 'anywhere'}`
        struck.set(where, isHit || struck.get(where) === true)
        limit = accepted() + Math.max(ROOM, (emails - accepted()) / (kills - kill + 1))
        if (kill % 10 === 0) report(`${kill} kills, ${accepted()} accepted, ${offered()} hand-overs`)
      }
      isOver = true
    })()
    // What goes wrong on one side ends the other, before the processes are taken from under both.
    await Promise.all([callers.finished, killing]).catch(async (error: unknown) => {
      over.abort(error)
      await Promise.allSettled([callers.finished, killing])
      throw error
    })
    await fleet.ready()
    const db = await options.open()
    let closed: Promise<void> | undefined
    const close = () => (closed ??= db.close())
    try {
      await untilSettled(db, {
        progress: offered,
        describe: fleet.log,
        ...(onUncertain === 'resend' && { resendUpTo: MAX_ATTEMPTS }),
      })
      await askAgain(
        wishes.filter(({ abandoned }) => !abandoned),
        fleet.url,
      )
      const records = await readRecords(db, domain)
      await close()
      const ends = await fleet.stop()
      return {
        ...judge({ wishes, records, handOvers: server.handOvers, deaths: fleet.deaths, onUncertain }),
        ends,
        missed: [...struck].filter(([, isHit]) => !isHit).map(([where]) => where),
      }
    } finally {
      await close()
    }
  } catch (error) {
    throw new Error(`${(error as Error).message}\n${fleet.log()}`, { cause: error })
  } finally {
    await fleet.kill()
    await server.close()
  }
}

function newWish(n: number, domain: string, onUncertain: 'hold' | 'resend', inline: boolean): Wish {
  const recipient = `email${n}@${domain}`
  const body = {
    to: recipient,
    subject: `Number ${n}`,
    text: `This is email ${n}.`,
    on_uncertain: onUncertain,
    ...(inline && { delivery: 'inline' }),
  }
  return { recipient, body, ids: new Set(), lostAnswers: 0, abandoned: false }
}
