import fc from 'fast-check'
import { expect, it } from 'vitest'
import { holds } from '../../src/domain/branch-condition.js'
import { OPEN_PACE, type Pace } from '../../src/domain/pace.js'
import { type FutureEmail, openCalendar } from '../../src/domain/send-calendar.js'
import { seededDice } from '../../src/domain/seeded-dice.js'
import type { SequenceGraph } from '../../src/domain/sequence.js'
import { newId } from '../../src/id.js'
import { openWalkSimulation, type SimulatedSender } from '../../src/operations/simulate-walks.js'
import { graphs } from '../domain/sequence-graphs.js'

/**
 * Whatever the sequence, the paces and the people: what is shown breaks no rule. The checks know nothing of how slots are
 * found: they read clocks with Intl, and walk the graph node by node.
 */
const FROM = new Date('2026-10-20T10:11:12.345Z')

const paces: fc.Arbitrary<Pace> = fc
  .record({
    // All of these change their clocks within weeks of the start, or never.
    timezone: fc.constantFrom('Europe/Paris', 'America/New_York', 'Asia/Kolkata', 'UTC'),
    sendingDays: fc.uniqueArray(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 7 }),
    startMinute: fc.integer({ min: 0, max: 1_000 }),
    length: fc.integer({ min: 30, max: 439 }),
    blackoutDates: fc.subarray(['2026-10-20', '2026-10-26', '2026-11-02', '2026-11-03']),
    dailyQuota: fc.option(fc.integer({ min: 1, max: 12 })),
    gapMinSeconds: fc.integer({ min: 1, max: 600 }),
    gapMore: fc.integer({ min: 0, max: 900 }),
  })
  .map(({ length, gapMore, ...pace }) => ({
    ...OPEN_PACE,
    ...pace,
    endMinute: pace.startMinute + length,
    gapMaxSeconds: pace.gapMinSeconds + gapMore,
  }))

const people = fc.array(
  fc.record({
    attributes: fc.constantFrom({}, { plan: 'free' }, { plan: 'pro', score: 7 }, { company: { size: 100 } }),
    enrolledBefore: fc.boolean(),
  }),
  { minLength: 1, maxLength: 40 },
)

const worlds = fc.record({
  graph: graphs,
  paces: fc.array(paces, { minLength: 1, maxLength: 3 }),
  people,
  days: fc.integer({ min: 1, max: 60 }),
  seed: fc.string(),
})

it('never breaks window, quota, gap, order or delay, and loses nobody', () => {
  fc.assert(
    fc.property(worlds, ({ graph, paces, people, days, seed }) => {
      const senders = paces.map((pace): SimulatedSender => ({ id: newId(), book: emptyBook(pace) }))
      const crowd = people.map((person, i) => ({
        ...person,
        id: newId(),
        address: `p${i}@example.com`,
        name: null,
        timezone: null,
        unsubscribed: false,
        suppressed: false,
      }))
      const calendar = openCalendar({ from: FROM, days, timezone: 'UTC', limit: 1_000 })
      const campaign = { id: newId(), expiresAt: null }
      const simulation = openWalkSimulation({ graph, campaign, senders, calendar, random: seededDice(seed) })
      simulation.enroll(crowd, FROM.getTime())
      while (simulation.run(calendar.until, 7));

      const emails = calendar.first()
      expect(emails).toHaveLength(calendar.total())
      expect(emails).toEqual(emails.toSorted((a, b) => a.at - b.at))
      for (const { id, book } of senders)
        checkSender(
          emails.filter(({ senderId }) => senderId === id),
          book.pace,
        )
      const expected = crowd.filter(({ enrolledBefore }) => !enrolledBefore)
      const paths = expected.map(({ id, attributes }) => {
        const path = pathOf(graph, attributes)
        checkPerson(
          emails.filter(({ contactId }) => contactId === id),
          path,
        )
        return path.length
      })
      expect(calendar.total() + calendar.beyond()).toBe(paths.reduce((sum, length) => sum + length, 0))
      expect(emails.every(({ contactId }) => expected.some(({ id }) => id === contactId))).toBe(true)
      const counted = calendar.days().map(({ emails }) => emails)
      expect(counted.reduce((sum, count) => sum + count, 0)).toBe(calendar.total())
    }),
    { numRuns: 300 },
  )
})

const emptyBook = (pace: Pace) => ({ pace, rampUpFrom: null, days: new Map(), changed: new Set<string>() })

function checkSender(emails: readonly FutureEmail[], pace: Pace): void {
  const perDay = new Map<string, number>()
  const clock = new Intl.DateTimeFormat('en-GB', {
    timeZone: pace.timezone,
    dateStyle: 'short',
    timeStyle: 'short',
  })
  for (const [place, { at }] of emails.entries()) {
    const [, day, month, year, hour, minute] = /^(\d+)\/(\d+)\/(\d+), (\d+):(\d+)$/.exec(clock.format(at))!
    const date = `${year}-${month}-${day}`
    const minutes = Number(hour) * 60 + Number(minute)
    expect(minutes).toBeGreaterThanOrEqual(pace.startMinute)
    expect(minutes).toBeLessThan(pace.endMinute)
    expect(pace.sendingDays).toContain(new Date(`${date}T00:00:00Z`).getUTCDay() || 7)
    expect(pace.blackoutDates).not.toContain(date)
    perDay.set(date, (perDay.get(date) ?? 0) + 1)
    expect(at).toBeGreaterThanOrEqual(FROM.getTime())
    if (place > 0) expect(at - emails[place - 1]!.at).toBeGreaterThanOrEqual(pace.gapMinSeconds * 1_000)
  }
  if (pace.dailyQuota !== null) for (const count of perDay.values()) expect(count).toBeLessThanOrEqual(pace.dailyQuota)
}

interface Expected {
  readonly step: number
  /** After the email before it, or after the beginning. */
  readonly delayMs: number
}

/** The emails of somebody who never answers, one node after the other. */
function pathOf(graph: SequenceGraph, attributes: Record<string, never> | object): Expected[] {
  const steps = graph.nodes.filter(({ type }) => type === 'send').map(({ id }) => id)
  const path: Expected[] = []
  let delayMs = 0
  for (let id: string | null = graph.start; id !== null;) {
    const node = graph.nodes.find((each) => each.id === id)!
    if (node.type === 'stop') break
    if (node.type === 'send') {
      path.push({ step: steps.indexOf(id) + 1, delayMs: delayMs + node.delayMs })
      delayMs = 0
      id = node.next
    } else if (node.type === 'wait') {
      delayMs += node.durationMs
      id = node.next
    } else if (node.type === 'wait_for') {
      delayMs += node.timeoutMs
      id = node.onTimeout
    } else id = holds(node.condition, { attributes: attributes as never, events: new Set() }) ? node.then : node.else
  }
  return path
}

function checkPerson(emails: readonly FutureEmail[], path: readonly Expected[]): void {
  expect(emails.map(({ step }) => step)).toEqual(path.slice(0, emails.length).map(({ step }) => step))
  expect(new Set(emails.map(({ senderId }) => senderId)).size).toBeLessThanOrEqual(1)
  let last = FROM.getTime()
  for (const [place, { at }] of emails.entries()) {
    expect(at - last).toBeGreaterThanOrEqual(path[place]!.delayMs)
    last = at
  }
}
