/* oxlint-disable unicorn/no-thenable -- the `then` of a branch is the name of a node: nothing can await it */
import { parseArgs } from 'node:util'
import { OPEN_PACE } from '../src/domain/pace.js'
import type * as Calendars from '../src/domain/send-calendar.js'
import type * as Dice from '../src/domain/seeded-dice.js'
import type { SequenceGraph, SequenceNode } from '../src/domain/sequence.js'
import { newId } from '../src/id.js'
import type * as Walks from '../src/operations/simulate-walks.js'
import { plainError } from '../test/support/services/plain-error.js'
import { type Bar, formatBars } from './support/bars.js'
import { compilePostrider } from './support/compile-postrider.js'
import { describeMachine } from './support/machine.js'
import { writeResults } from './support/results.js'
import { formatCount, formatTable } from './support/table.js'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const FROM = new Date('2026-11-16T06:00:00Z')
const DAYS = 60
const TURN = 100
const LEAST_PER_SECOND = 100_000

/**
 * Looking ahead: how many emails a second are given their sender and their slot, within a calendar that holds all of
 * them. Without a database: what is measured are the walks, not the reading of people. It is one thread that never
 * waits, so the seconds of its processor count, and neighbours do not.
 */
export async function run(args: string[]): Promise<void> {
  const { people, senders, rounds } = readSettings(args)
  const machine = describeMachine()
  console.log(`machine  ${JSON.stringify(machine)}\n`)
  const compiled = await compilePostrider()
  const code = await loadCode(compiled.url).finally(() => compiled.remove())
  const crowd = Array.from({ length: people }, (_, i) => newcomer(i))
  const found = Object.entries(GRAPHS).map(([name, graph]) => {
    // The first of them is compiled while it runs; the middle of the others counts.
    const seen = Array.from({ length: rounds + 1 }, () => measure(code, graph, crowd, senders)).slice(1)
    return { name, ...seen.toSorted((a, b) => a.perSecond - b.perSecond)[Math.floor(rounds / 2)]! }
  })
  const rows = found.map(({ name, emails, beyond, seconds, cpuSeconds, perSecond, heapMb }) => [
    name,
    formatCount(emails),
    formatCount(beyond),
    seconds.toFixed(2),
    cpuSeconds.toFixed(2),
    formatCount(Math.round(perSecond)),
    `${heapMb.toFixed(0)} MB`,
  ])
  console.log(formatTable(['sequence', 'emails', 'beyond', 'seconds', 'of processor', 'emails/s', 'more heap'], rows))
  const bars: Bar[] = found.map(({ name, emails, perSecond }) => ({
    name: `${name}: at least ${formatCount(LEAST_PER_SECOND)} emails a second`,
    value: `${formatCount(Math.round(perSecond))} (${formatCount(emails)} emails)`,
    pass: perSecond >= LEAST_PER_SECOND,
  }))
  console.log(`\n${formatBars(bars)}\n`)
  console.log(writeResults('simulate', { machine, settings: { people, senders, rounds, days: DAYS }, bars, found }))
}

type Code = typeof Calendars & typeof Dice & typeof Walks

async function loadCode(url: string): Promise<Code> {
  const load = <Module>(path: string) => import(`${url}${path}`) as Promise<Module>
  return {
    ...(await load<typeof Calendars>('domain/send-calendar.js')),
    ...(await load<typeof Dice>('domain/seeded-dice.js')),
    ...(await load<typeof Walks>('operations/simulate-walks.js')),
  }
}

const send = (id: string, next: string | null, days = 3): SequenceNode => ({
  id,
  type: 'send',
  templateId: 'any',
  subject: null,
  delayMs: days * DAY,
  reply: false,
  next,
})

const GRAPHS: Readonly<Record<string, SequenceGraph>> = {
  'three emails in a row': { start: 'a', nodes: [send('a', 'b', 0), send('b', 'c'), send('c', null)] },
  'a branch and a timeout': {
    start: 'a',
    nodes: [
      send('a', 'asks', 0),
      {
        id: 'asks',
        type: 'branch',
        condition: { attribute: 'plan', is: 'equals', value: 'pro' },
        then: 'b',
        else: 'c',
      },
      send('b', 'waits'),
      { id: 'waits', type: 'wait_for', event: 'clicked', timeoutMs: 2 * DAY, onEvent: null, onTimeout: 'c' },
      send('c', null),
    ],
  },
}

const newcomer = (i: number): Walks.Newcomer => ({
  id: newId(),
  address: `person-${i}@example.com`,
  name: null,
  timezone: null,
  attributes: { plan: i % 2 === 0 ? 'pro' : 'free' },
  unsubscribed: false,
  suppressed: false,
  enrolledBefore: false,
})

function measure(code: Code, graph: SequenceGraph, crowd: readonly Walks.Newcomer[], senderCount: number) {
  const pace = {
    ...OPEN_PACE,
    timezone: 'Europe/Paris',
    sendingDays: [1, 2, 3, 4, 5],
    startMinute: 9 * 60,
    endMinute: 17 * 60,
    dailyQuota: 5_000,
    gapMinSeconds: 1,
    gapMaxSeconds: 5,
  }
  const senders = Array.from({ length: senderCount }, () => ({
    id: newId(),
    book: { pace, rampUpFrom: null, days: new Map(), changed: new Set<string>() },
  }))
  const calendar = code.openCalendar({ from: FROM, days: DAYS, timezone: pace.timezone, limit: 100 })
  const campaign = { id: newId(), expiresAt: null }
  const heap = process.memoryUsage().heapUsed
  const [started, used] = [performance.now(), process.cpuUsage()]
  const random = code.seededDice(campaign.id)
  const simulation = code.openWalkSimulation({ graph, campaign, senders, calendar, random })
  for (let place = 0; place < crowd.length; place += TURN)
    simulation.enroll(crowd.slice(place, place + TURN), FROM.getTime())
  simulation.run(calendar.until, Infinity)
  const seconds = (performance.now() - started) / 1_000
  const cpuSeconds = process.cpuUsage(used).user / 1_000_000
  const emails = calendar.total()
  const heapMb = (process.memoryUsage().heapUsed - heap) / 2 ** 20
  return { emails, beyond: calendar.beyond(), seconds, cpuSeconds, perSecond: emails / cpuSeconds, heapMb }
}

function readSettings(args: string[]) {
  const { values } = parseArgs({
    args,
    options: {
      people: { type: 'string', default: '100000' },
      senders: { type: 'string', default: '3' },
      rounds: { type: 'string', default: '3' },
    },
  })
  return { people: count(values.people), senders: count(values.senders), rounds: count(values.rounds) }
}

function count(text: string): number {
  if (!/^[1-9]\d*$/.test(text.trim())) throw plainError(`"${text}" is not a whole number of at least 1.`)
  return Number(text)
}
