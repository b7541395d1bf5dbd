import { Agent } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect, type Database } from '../../src/db/client.js'
import type { BuiltPackage } from '../support/build-package.js'
import { seededRandom, type SeededRandom, shuffle } from '../support/seeded-random.js'
import { until } from '../support/until.js'
import {
  type CampaignView,
  launch,
  type LaunchedCampaign,
  leave,
  LEAVINGS,
  type Place,
  readOutcome,
  readView,
} from './campaign-desk.js'
import { judgeCampaign } from './campaign-verdict.js'
import { type Fleet, type Role, startFleet } from './fleet.js'
import { type Judge, type Point, startJudge } from './judge.js'
import { CHAOS, LEASE_MS, type Storm } from './storm.js'

/**
 * A campaign is planned and sent while processes are killed, at random, at every point of a conversation and in the middle
 * of planning, and while people leave. Then it comes to its end, and the judge is heard.
 */
export interface CampaignStormOptions extends Place {
  readonly built: BuiltPackage
  readonly people: number
  readonly batchSize: number
  readonly kills: number
  /** Which part of the people leaves while it runs. */
  readonly leavers?: number
  /** Another thing that happens to it, between two kills. */
  readonly restarts?: { readonly times: number; readonly restart: () => Promise<void> }
  readonly seed: number
  readonly report?: (line: string) => void
}

const CONCURRENCY = 8
const MAX_ATTEMPTS = 12
const AIMS: readonly (Point | null)[] = [null, null, 'data', 'go', 'body', 'dot', 'answered']
/** One kill in so many is of everybody at once, while one of them plans. */
const CUT_EVERY = 4
const GATE_MS = 5
const SAMPLE_MS = 50
const PATIENCE = { withinMs: 120_000, everyMs: 5 }
/** Nothing moved for so long: it never will. */
const STUCK_MS = 60_000

const ON_A_SERVER: readonly Role[] = [
  { name: 'worker A', works: true, listens: false, weight: 2 },
  { name: 'worker B', works: true, listens: false, weight: 2 },
  { name: 'API', works: false, listens: true, weight: 1 },
]
const EMBEDDED: readonly Role[] = [
  { name: 'owner', works: true, listens: true, owns: true, weight: 1 },
  { name: 'attached', works: true, listens: false, weight: 1 },
]

/** The judge refuses and hangs up, but never leaves anybody in the dark after the body: that only kills do here. */
const SAID_ALOUD = CHAOS.filter(({ at, does }) => typeof does === 'number' || (at !== 'body' && at !== 'dot'))

export async function runCampaignStorm(options: CampaignStormOptions): Promise<Storm> {
  const { built, databaseUrl, dataDirectory, people, batchSize, leavers = 0, seed } = options
  const { kills, restarts, report = () => undefined } = options
  const random = seededRandom(seed)
  const mails = people * (1 - leavers)
  const place = { databaseUrl, dataDirectory }
  const campaign = await launch(place, {
    domain: `campaign${seed}.test`,
    people,
    batchSize,
    leaving: () => (random.next() < leavers ? random.pick(LEAVINGS) : null),
  })
  const server = startJudge({ seed, chaos: SAID_ALOUD })
  const gate = createGate()
  const settings = { leaseMs: LEASE_MS, sweepMs: 500, concurrency: CONCURRENCY, maxAttempts: MAX_ATTEMPTS }
  const fleet = await startFleet({
    built,
    judge: gate.guard(server),
    roles: databaseUrl ? ON_A_SERVER : EMBEDDED,
    settings: { ...settings, ...place, waitsMs: [50, 100, 200] },
  }).catch(async (error: unknown) => {
    gate.open()
    await server.close()
    throw error
  })
  const agent = new Agent({ keepAlive: true })
  const db = databaseUrl
    ? connect({ connection: { connectionString: databaseUrl }, maxConnections: 2, onError: () => undefined })
    : null
  const watch = watchCampaign(campaign, fleet, agent, server)
  try {
    let whilePlanning = 0
    let isCutting = false
    let goodbye: Promise<boolean> = Promise.resolve(true)
    const storming = async () => {
      const events = kills + (restarts?.times ?? 0)
      gate.limit = mails / (events + 1)
      for (let event = 1; event <= events; event++) {
        const enough = gate.passed() + random.next() * 0.8 * (gate.limit - gate.passed())
        await until(
          `hand-overs before kill ${event}`,
          () => (watch.goOn(), watch.isOver() || gate.passed() >= enough),
          PATIENCE,
        )
        // Something is always going on while it happens, and never so much that nothing would be left for the next.
        gate.limit = gate.passed() + 4 * CONCURRENCY
        if (event > kills) await restarts!.restart()
        else if (db && event % CUT_EVERY === 2) {
          gate.limit = gate.passed() + 3 * batchSize
          // Whoever left now would wait for the locked table too, with rows that workers need to get to their planning.
          isCutting = true
          await goodbye
          await cutPlanning(db, fleet, random).finally(() => (isCutting = false))
        } else {
          const victim = await fleet.choose(random)
          await fleet.strike(victim, { at: victim.works ? random.pick(AIMS) : null, random })
        }
        if (watch.unplanned() > 0) whilePlanning++
        if (event % 10 === 0) report(`${event} kills, ${gate.passed()} hand-overs`)
        gate.limit = gate.passed() + Math.max(0, mails - gate.passed()) / (events - event + 1)
      }
      gate.open()
    }
    const leaving = async () => {
      const all = campaign.people.filter(({ leaves }) => leaves !== null)
      for (const [index, person] of shuffle(all, seededRandom(seed + 1)).entries()) {
        // All through the campaign, so that some have their email by then, some are planned and some are not.
        const due = (index / all.length) * 0.8 * mails
        while (gate.passed() < due && !gate.isOpen()) await sleep(GATE_MS)
        for (let isGone = false; !isGone; isGone = await goodbye) {
          await sleep(GATE_MS)
          while (isCutting) await sleep(GATE_MS)
          goodbye = leave(fleet.url(), person, campaign, agent)
        }
      }
    }
    await Promise.all([storming(), leaving(), watch.sent]).finally(gate.open)
    await fleet.ready()
    const ends = await fleet.stop()
    const { view, records } = await readOutcome(place, campaign)
    const { broken, counts } = judgeCampaign({
      campaign,
      view,
      records,
      handOvers: server.handOvers,
      deaths: fleet.deaths,
      outOfStep: watch.outOfStep,
      database: restarts ? 'restarted' : 'stayed',
    })
    return { broken, counts: { ...counts, samples: watch.samples(), whilePlanning }, ends }
  } catch (error) {
    throw new Error(`${(error as Error).message}\n${fleet.log()}`, { cause: error })
  } finally {
    watch.stop()
    gate.open()
    await fleet.kill()
    await server.close()
    await db?.close()
    agent.destroy()
  }
}

/** Lets conversations come to their 354 as far as the limit says, so that there is mail left for every kill. */
function createGate() {
  let passed = 0
  const wait = async () => {
    while (passed >= gate.limit) await sleep(GATE_MS)
    passed++
  }
  const gate = {
    limit: 0,
    passed: () => passed,
    open: () => void (gate.limit = Number.POSITIVE_INFINITY),
    isOpen: () => gate.limit === Number.POSITIVE_INFINITY,
    guard: (judge: Judge): Judge => ({
      ...judge,
      async openDoor(name) {
        const door = await judge.openDoor(name)
        door.onPoint = (point) => (point === 'data' ? wait() : undefined)
        return door
      },
    }),
  }
  return gate
}

/** Asks the campaign how far it is, all the time, and whether that adds up. */
function watchCampaign({ id }: LaunchedCampaign, fleet: Fleet, agent: Agent, { handOvers }: Judge) {
  const outOfStep: string[] = []
  const over = new AbortController()
  let [samples, unplanned, isOver] = [0, 0, false]

  const look = async (): Promise<CampaignView | null> => {
    const view = await readView(fleet.url(), id, agent)
    if (!view) return null
    samples++
    const { audience, ...rest } = view.counts
    const sum = Object.values(rest).reduce((total, count) => total + count, 0)
    const negative = Object.entries(rest).find(([, count]) => count < 0)
    if (sum !== audience || negative) outOfStep.push(`does not add up: ${JSON.stringify(view.counts)}`)
    unplanned = view.counts.not_planned
    return view
  }
  const untilSent = async () => {
    let [before, since] = ['', performance.now()]
    // What was last heard: while nobody answers, nothing is known to have moved.
    let heard: CampaignView['counts'] | null = null
    for (;;) {
      over.signal.throwIfAborted()
      const view = await look()
      if (view?.status === 'sent') return void (isOver = true)
      heard = view?.counts ?? heard
      const now = JSON.stringify([heard, handOvers.length, fleet.deaths.length])
      if (now !== before) since = performance.now()
      before = now
      if (performance.now() - since > STUCK_MS) throw new Error(`Nothing moves any more: ${JSON.stringify(view)}`)
      await sleep(SAMPLE_MS)
    }
  }
  const sent = untilSent().catch((error: unknown) => {
    over.abort(error)
    throw error
  })
  // Whoever waits for it hears of it; who failed before that does not care.
  sent.catch(() => undefined)
  return {
    sent,
    outOfStep,
    samples: () => samples,
    unplanned: () => unplanned,
    isOver: () => isOver,
    goOn: () => over.signal.throwIfAborted(),
    stop: () => over.abort(new Error('The storm is over.')),
  }
}

/**
 * Kills all workers while one of them has a batch half planned: it has completed its action, holds the campaign, and waits
 * for a table. The server then carries out the statement of somebody who is dead, and must forget it.
 */
async function cutPlanning(db: Database, fleet: Fleet, random: SeededRandom): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.query('lock table postrider.list_members in access exclusive mode')
    const isWaiting = async () => {
      const { rows } = await db.query<{ waiting: boolean }>(
        `select exists (select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
           and query like '%page as materialized%') as waiting`,
      )
      return rows[0]!.waiting
    }
    await until('somebody plans a batch', isWaiting, PATIENCE)
    for (const role of ON_A_SERVER.filter(({ works }) => works)) await fleet.strike(role, { at: null, random })
  })
}
