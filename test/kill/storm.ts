import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from '../../src/db/client.js'
import type { BuiltPackage } from '../support/build-package.js'
import { seededRandom } from '../support/seeded-random.js'
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
  readonly dataDirectory: string
  /** A connection of the test's own, to be opened when the last kill is over. */
  readonly open: () => Promise<Database>
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

export const LEASE_MS = 2_000
const CONCURRENCY = 8
const MAX_ATTEMPTS = 12
const ROOM_MS = 10
const PATIENCE = { withinMs: 60_000, everyMs: 5 }
/** Where processes are killed: anywhere, or at a point. A greeting is rare, since connections are kept. */
const AIMS: readonly (Point | null)[] = [null, 'data', 'go', 'body', 'dot', 'answered']
const INLINE = 0.1

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

export async function runStorm(options: StormOptions): Promise<Storm> {
  const { built, databaseUrl, dataDirectory, emails, kills, onUncertain, seed, report = () => undefined } = options
  const random = seededRandom(seed)
  // Several storms may share a database.
  const domain = `storm${seed}.test`
  const server = startJudge({ seed, chaos: CHAOS })
  const wishes = Array.from({ length: emails }, (_, n) => newWish(n, domain, onUncertain, random.next() < INLINE))
  const settings = { leaseMs: LEASE_MS, sweepMs: 500, concurrency: CONCURRENCY, maxAttempts: MAX_ATTEMPTS }
  const fleet = await startFleet({
    built,
    judge: server,
    roles: databaseUrl ? ON_A_SERVER : EMBEDDED,
    settings: { ...settings, databaseUrl, dataDirectory, waitsMs: [50, 100, 200] },
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
    let [limit, isAiming] = [emails / kills, false]
    const over = new AbortController()
    const goOn = () => over.signal.throwIfAborted()
    const room = async () => {
      for (; accepted() >= limit && !isAiming; goOn()) await sleep(ROOM_MS)
    }
    const url = () => (goOn(), fleet.url())
    const callers = startCallers({ wishes, random: seededRandom(seed + 1), url, room })
    const killing = (async () => {
      for (let kill = 1; kill <= kills; kill++) {
        const enough = offered() + random.next() * 0.8 * (limit - accepted())
        await until(
          `hand-overs before kill ${kill}`,
          () => (goOn(), offered() >= enough || accepted() + callers.abandoned() === emails),
          PATIENCE,
        )
        const victim = await fleet.choose(random)
        isAiming = true
        await fleet.strike(victim, { at: random.pick(AIMS), asking: callers.asking, random })
        isAiming = false
        limit = accepted() + (emails - accepted()) / (kills - kill + 1)
        if (kill % 10 === 0) report(`${kill} kills, ${accepted()} accepted, ${offered()} hand-overs`)
      }
      limit = emails
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
      return { ...judge({ wishes, records, handOvers: server.handOvers, deaths: fleet.deaths, onUncertain }), ends }
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
