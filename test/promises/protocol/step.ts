import type { Rules } from './protocol.js'
import type { Phase, Worker, World } from './world.js'

/**
 * One indivisible thing that can happen: when it can, what it changes, and why it is there. Between any two
 * steps of a worker anything else may happen: freezing, losing the lease and waking up as a revenant is
 * nothing but a long time between two steps.
 */
export interface WorkerStep {
  name: string
  why: string
  /** What the worker must believe to try it. */
  from: readonly Phase[]
  /** Absent: always. */
  guard?: (world: World, worker: Worker, rules: Rules) => boolean
  effect: (world: World, worker: Worker, rules: Rules) => void
  /** The irrevocable byte leaves in this step. */
  handsOver?: true
  /** Nothing the system does by itself: left out when asking whether it can always finish. */
  notBySystem?: true
}

/** A step nobody's worker makes: time, the rescuer, people. */
export interface WorldStep {
  name: string
  why: string
  guard: (world: World, rules: Rules) => boolean
  effect: (world: World, rules: Rules) => void
  notBySystem?: true
}
