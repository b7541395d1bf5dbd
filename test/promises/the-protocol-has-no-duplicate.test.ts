/**
 * Every order in which claims, arms, hand-overs, settlements, crashes, expiring leases, rescues, pauses,
 * cancels and people's decisions can follow one another, tried; and the proof that the search can see:
 * careless versions of the protocol, each caught with a shortest story of how it goes wrong.
 */
import { describe, expect, test } from 'vitest'
import { TRANSITIONS, type Transition } from '../../src/domain/states.js'
import { BROKEN, HARMLESS } from './protocol/broken.js'
import { explore } from './protocol/explore.js'

const inWords = ({ from, to, by }: Transition): string => `${from} to ${to} by ${by}`

const tell = (title: string, trace: readonly string[]): void =>
  console.info([title, ...trace.map((line, i) => `  ${String(i + 1).padStart(2)}. ${line}`)].join('\n'))

describe('the protocol, in every order of events', () => {
  // Searched while the tests are collected: shared by all of them, and under no test's time limit.
  const handOver = explore({ workers: 3, crashes: 2, pauses: 1, resends: 1, retries: 1 })
  const database = explore({ workers: 3, crashes: 2, pauses: 1, retries: 1, kind: 'database' })

  test('keeps every promise for an action that hands something over', () => {
    console.info(`hand-over: ${handOver.states} states, ${handOver.depth} steps deep`)
    expect(handOver.violation).toBeUndefined()
    expect(handOver.states).toBeGreaterThan(300_000)
    expect(handOver.depth).toBeGreaterThan(25)
  })

  test('keeps every promise for an action whose effect is in our own database', () => {
    console.info(`database: ${database.states} states, ${database.depth} steps deep`)
    expect(database.violation).toBeUndefined()
    expect(database.states).toBeGreaterThan(3_000)
    expect(database.depth).toBeGreaterThan(20)
  })

  test('makes every move the table of transitions allows, and no other', () => {
    const made = new Set([...handOver.moves, ...database.moves].map(inWords))
    expect([...made].toSorted()).toEqual(TRANSITIONS.map(inWords).toSorted())
  })

  test('never settles a hand-over as done without having armed it', () => {
    expect(
      handOver.moves.filter(({ to, by }) => to === 'done' && by !== 'person').map(({ from }) => from),
    ).not.toContain('leased')
    expect(database.moves.map(inWords)).toContain('leased to done by complete')
  })

  test('keeps them however often it is sent again', () => {
    const { violation, states } = explore({ workers: 2, crashes: 1, pauses: 0, resends: 2, retries: 0 })
    expect(violation).toBeUndefined()
    expect(states).toBeGreaterThan(10_000)
  })
})

describe('a careless protocol is caught', () => {
  test.each(BROKEN)('$name: $breaks', ({ name, breaks, ...options }) => {
    const { violation, states } = explore({ ...options, properties: [breaks] })
    const trace = violation?.trace ?? []
    tell(`${name}\nbreaks "${breaks}" in ${trace.length} steps (${states} states seen)`, trace)
    expect(violation?.property).toBe(breaks)
    expect(trace).not.toHaveLength(0)
  })
})

describe('a condition that is redundant is known to be', () => {
  test.each(HARMLESS)('$name', ({ name: _name, ...options }) => {
    const { violation, states } = explore({ ...options, workers: 2, crashes: 1 })
    expect(violation).toBeUndefined()
    expect(states).toBeGreaterThan(1_000)
  })
})
