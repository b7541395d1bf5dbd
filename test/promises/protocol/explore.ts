/**
 * Breadth-first search through every order in which the steps can happen. It ends with the whole graph seen,
 * or with a violation, whose trace is then a shortest one.
 */
import type { ActionState, Mover, Transition } from '../../../src/domain/states.js'
import { CORRECT, type Protocol, type Rules } from './protocol.js'
import { PROMISES, isEnding, violates, type Edge, type Property } from './properties.js'
import { IntList, StateSet } from './state-set.js'
import type { WorkerStep } from './step.js'
import { STEPS_BEFORE_HAND_OVER } from './steps-before-hand-over.js'
import { STEPS_FROM_HAND_OVER } from './steps-from-hand-over.js'
import { accepted, copy, isSame, packRow, packWorkers, PHASES, unpack, type Phase, type World } from './world.js'
import { WORLD_STEPS } from './world-steps.js'

const WORKER_STEPS = [...STEPS_BEFORE_HAND_OVER, ...STEPS_FROM_HAND_OVER]
const STEPS_FROM = Object.fromEntries(
  PHASES.map((phase) => [phase, WORKER_STEPS.filter(({ from }) => from.includes(phase))]),
) as unknown as Record<Phase, WorkerStep[]>

export interface Options extends Partial<Omit<Rules, 'protocol'>> {
  protocol?: Partial<Protocol>
  workers?: number
  /** Look for violations of these only. */
  properties?: readonly Property[]
}

export interface Exploration {
  states: number
  /** Steps to the state farthest from acceptance. */
  depth: number
  /** Every row move made by somebody in some order of events. */
  moves: readonly Transition[]
  violation?: { property: Property; trace: string[] }
}

interface Taken extends Edge {
  name: string
  bySystem: boolean
}

/** Calls back once for every step possible in `before`. The edge and its worlds are reused: copy to keep. */
const forEachStep = (
  before: World,
  after: World,
  rules: Rules,
  visit: (edge: Taken, index: number) => boolean,
): void => {
  const edge: Taken = { before, after, worker: null, handsOver: false, name: '', bySystem: true }
  for (const step of WORLD_STEPS) {
    if (!step.guard(before, rules)) continue
    copy(before, after)
    after.by = null
    step.effect(after, rules)
    edge.name = step.name
    edge.bySystem = !step.notBySystem
    if (visit(edge, -1)) return
  }
  for (let index = 0; index < before.workers.length; index++) {
    const worker = before.workers[index]!
    // Two workers who know the same can do the same: once is enough.
    if (index > 0 && isSame(worker, before.workers[index - 1]!)) continue
    edge.worker = worker
    for (const step of STEPS_FROM[worker.phase]) {
      if (step.guard && !step.guard(before, worker, rules)) continue
      copy(before, after)
      after.by = null
      step.effect(after, after.workers[index]!, rules)
      edge.name = step.name
      edge.handsOver = step.handsOver === true
      edge.bySystem = !step.notBySystem
      if (visit(edge, index)) return
    }
  }
}

const note = (moves: Transition[], from: ActionState, to: ActionState, by: Mover): void => {
  for (const move of moves) if (move.from === from && move.to === to && move.by === by) return
  moves.push({ from, to, by })
}

export const explore = (options: Options = {}): Exploration => {
  const { workers = 3, properties = PROMISES } = options
  const { kind = 'hand-over', crashes = 2, pauses = 1, resends = 1, retries = 1 } = options
  const rules: Rules = { protocol: { ...CORRECT, ...options.protocol }, kind, crashes, pauses, resends, retries }
  const before = accepted(workers)
  const after = accepted(workers)
  const seen = new StateSet()
  const depths = new IntList()
  const moves: Transition[] = []
  const endings = new IntList()
  /** Steps the system can make by itself out of states that are no ending yet: pairs of from, to. */
  const progress = new IntList()
  let violated: Property | undefined

  seen.add(packRow(before), packWorkers(before), -1)
  depths.push(0)
  let state = 0
  for (; state < seen.size; state++) {
    unpack(seen.rows.at(state), seen.workers.at(state), before)
    const ended = isEnding(before.state)
    if (ended) endings.push(state)
    forEachStep(before, after, rules, (edge) => {
      for (const property of properties) {
        if (!violates(property, edge)) continue
        violated = property
        return true
      }
      if (after.by) note(moves, before.state, after.state, after.by)
      const next = seen.add(packRow(after), packWorkers(after), state)
      if (next === depths.length) depths.push(depths.at(state) + 1)
      if (edge.bySystem && !ended) {
        progress.push(state)
        progress.push(next)
      }
      return false
    })
    if (violated) break
  }

  const found = { states: seen.size, depth: depths.at(depths.length - 1), moves }
  if (violated)
    return { ...found, violation: { property: violated, trace: retrace(seen, state, workers, rules, violated) } }
  const stuck = properties.includes('never stuck') ? findStuck(seen.size, endings, progress) : -1
  if (stuck < 0) return found
  return { ...found, violation: { property: 'never stuck', trace: retrace(seen, stuck, workers, rules) } }
}

/** The first state from which no ending can be reached by the system alone, or -1: a search backwards from the endings. */
const findStuck = (states: number, endings: IntList, progress: IntList): number => {
  const firstInto = new Int32Array(states + 1)
  for (let i = 1; i < progress.length; i += 2) firstInto[progress.at(i) + 1]!++
  for (let i = 0; i < states; i++) firstInto[i + 1]! += firstInto[i]!
  const filled = firstInto.slice()
  const sources = new Int32Array(progress.length / 2)
  for (let i = 1; i < progress.length; i += 2) sources[filled[progress.at(i)]!++] = progress.at(i - 1)

  const canEnd = new Uint8Array(states)
  const queue = new IntList()
  const reach = (state: number) => {
    if (canEnd[state] === 0) queue.push(state)
    canEnd[state] = 1
  }
  for (let i = 0; i < endings.length; i++) reach(endings.at(i))
  for (let i = 0; i < queue.length; i++) {
    const state = queue.at(i)
    for (let j = firstInto[state]!; j < firstInto[state + 1]!; j++) reach(sources[j]!)
  }
  return canEnd.indexOf(0)
}

/** Walks the path again without canonical renaming, so that workers keep their names and tokens their numbers. */
const retrace = (seen: StateSet, end: number, workers: number, rules: Rules, violated?: Property): string[] => {
  const path: number[] = []
  for (let state = end; state > 0; state = seen.parents.at(state)) path.unshift(state)
  const before = accepted(workers)
  const after = accepted(workers)
  const trace: string[] = []
  const follow = (isNext: (edge: Edge) => boolean) => {
    forEachStep(before, after, rules, (edge, index) => {
      if (!isNext(edge)) return false
      trace.push(describe(edge, index))
      return true
    })
    copy(after, before)
  }
  for (const state of path) {
    follow(() => packRow(after) === seen.rows.at(state) && packWorkers(after) === seen.workers.at(state))
  }
  if (violated) follow((edge) => violates(violated, edge))
  return trace
}

const describe = ({ after, name }: Taken, index: number): string => {
  const what = index < 0 ? name : `worker ${'ABCD'[index]} ${name}`
  const row = `${after.state}${after.token ? ` #${after.token}` : ''}${after.leaseExpired ? ', lease expired' : ''}`
  return `${what.padEnd(64)} ${row}${after.lane === 'open' ? '' : `, lane ${after.lane}`}`
}
