import { describe, expect, it } from 'vitest'
import {
  ACTION_STATES,
  type ActionState,
  ATTENTION_STATES,
  canMove,
  FINAL_STATES,
  HELD_STATES,
  TRANSITIONS,
} from '../../src/domain/states.js'

/** Everything that can be reached from a state, by any number of moves. */
function reachable(from: ActionState): Set<ActionState> {
  const found = new Set<ActionState>()
  const walk = (state: ActionState) => {
    for (const { to } of TRANSITIONS.filter((move) => move.from === state))
      if (!found.has(to)) {
        found.add(to)
        walk(to)
      }
  }
  walk(from)
  return found
}

describe('the states of an action', () => {
  it('end in these, and nowhere else', () => {
    expect(FINAL_STATES).toEqual(['done', 'canceled', 'skipped', 'expired', 'dismissed'])
  })

  it.each(ACTION_STATES)('can be reached, and left for an end: %s', (state) => {
    if (state !== 'pending') expect(reachable('pending')).toContain(state)
    const isOver = FINAL_STATES.includes(state)
    expect(FINAL_STATES.some((end) => reachable(state).has(end))).toBe(!isOver)
  })

  it('list every move once', () => {
    const moves = TRANSITIONS.map(({ from, to, by }) => `${from} ${to} ${by}`)
    expect(new Set(moves).size).toBe(moves.length)
  })

  it('leave armed without its worker only as uncertain', () => {
    const others = TRANSITIONS.filter(({ from, by }) => from === 'armed' && by !== 'settle' && by !== 'release')
    expect(others).toEqual([{ from: 'armed', to: 'uncertain', by: 'rescue' }])
  })

  it('leave uncertain only by evidence or by a person', () => {
    expect(new Set(TRANSITIONS.filter(({ from }) => from === 'uncertain').map(({ by }) => by))).toEqual(
      new Set(['evidence', 'person']),
    )
  })

  it('become armed only from leased, by arming', () => {
    expect(TRANSITIONS.filter(({ to }) => to === 'armed')).toEqual([{ from: 'leased', to: 'armed', by: 'arm' }])
  })

  it('that need attention wait for somebody, and those held are never over', () => {
    for (const state of ATTENTION_STATES)
      expect(TRANSITIONS.some(({ from, by }) => from === state && by === 'person')).toBe(true)
    for (const state of HELD_STATES) expect(FINAL_STATES).not.toContain(state)
  })

  it('answer who may move what', () => {
    expect(canMove('pending', 'leased', 'claim')).toBe(true)
    expect(canMove('pending', 'leased', 'rescue')).toBe(false)
    expect(canMove('armed', 'pending', 'rescue')).toBe(false)
    expect(canMove('done', 'pending', 'person')).toBe(false)
  })
})
