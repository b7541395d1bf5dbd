/**
 * Everything the protocol search can see at one instant: one row, its lane, the workers' memories, and the
 * ghosts: facts no process can read, kept only so that the properties can be stated.
 *
 * A world packs into two 32-bit words. Two worlds that differ only in which worker is which, or in the
 * numbers of tokens, are the same world: tokens are never reused and only ever compared for equality with
 * the row's, so a canonical token is none, the row's own, or an older one.
 */
import { ACTION_STATES, type ActionState, type Mover } from '../../../src/domain/states.js'

const LANES = ['open', 'paused', 'canceled'] as const
type Lane = (typeof LANES)[number]

/** What a worker believes. It may be wrong about the row, never about what it did itself. */
export const PHASES = [
  'idle',
  'candidate', // broken claims only: has read the row, has not written yet
  'claimed', // holds a token; nothing has left
  'lane seen', // its arm has begun and found the lane open; not written yet
  'asked', // its arm is committed; the answer is on its way
  'armed', // knows that its arm is committed: free to hand over, without asking again
  'withdrawing', // has not handed over, never will under this token
  'accepted', // the provider said yes
  'deferred', // the provider said not now
  'rejected', // the provider said no
  'unanswered, taken', // handed over, no reply; the worker cannot tell these two apart
  'unanswered, not taken',
  'affected', // broken completions only: effect committed, completion not
] as const
export type Phase = (typeof PHASES)[number]

export interface Worker {
  phase: Phase
  token: number
  /** Which hand-over decision its claim serves. */
  decision: number
}

export const UNANSWERED = ['unanswered, taken', 'unanswered, not taken'] as const satisfies readonly Phase[]
export const HANDED_OVER = ['accepted', 'deferred', 'rejected', ...UNANSWERED] as const satisfies readonly Phase[]

export interface World {
  state: ActionState
  /** The lease token, 0 when none. Kept while uncertain, so that late evidence can be matched. */
  token: number
  leaseExpired: boolean
  lane: Lane
  workers: Worker[]
  /** An arm statement whose sender stopped waiting (or died): the database may still execute it. 0 when none. */
  armOnTheWire: number

  /** It was sent again after a hand-over nobody could decide about. */
  inDoubt: boolean

  /** How often each bounded thing has happened. */
  crashes: number
  pauses: number
  resends: number
  retries: number

  /** Ghost: bit d is set while decision d is used up by a hand-over not proven to have been refused. */
  spent: number
  /** Ghost: the provider took the email in a hand-over made under the row's present lease. */
  taken: boolean
  /** Ghost: the provider took the email in some hand-over, under whatever lease. */
  everTaken: boolean
  /** Ghost: a cancel, a skip or the expiry of the row has committed, and no person has sent it again since. */
  canceled: boolean
  /** Ghost: how often the effect of a database-only action has been committed. */
  effects: number

  /** Of the last step only: who wrote the row, if anybody did. Not part of the state. */
  by: Mover | null
  /** For readable traces only. Not part of the state. */
  claims: number
}

/** Acceptance is decision 0; every resend and every manual retry is one more. */
export const decisionOf = (world: World): number => world.resends + world.retries

export const isSame = (one: Worker, other: Worker): boolean =>
  one.phase === other.phase && one.token === other.token && one.decision === other.decision

const idle = (): Worker => ({ phase: 'idle', token: 0, decision: 0 })

export const accepted = (workers: number): World => ({
  state: 'pending',
  token: 0,
  leaseExpired: false,
  lane: 'open',
  workers: Array.from({ length: workers }, idle),
  armOnTheWire: 0,
  inDoubt: false,
  crashes: 0,
  pauses: 0,
  resends: 0,
  retries: 0,
  spent: 0,
  taken: false,
  everTaken: false,
  canceled: false,
  effects: 0,
  by: null,
  claims: 0,
})

const OWN = 1
const OLDER = 2
const codes = <T extends string>(names: readonly T[]) =>
  Object.fromEntries(names.map((name, code) => [name, code])) as Record<T, number>
const stateCode = codes(ACTION_STATES)
const laneCode = codes(LANES)
const phaseCode = codes(PHASES)

const canonicalToken = (token: number, rowToken: number): number => (token === 0 ? 0 : token === rowToken ? OWN : OLDER)

/** The row, the lane, the counters and the ghosts: 28 bits. */
export const packRow = (world: World): number =>
  stateCode[world.state] |
  ((world.token === 0 ? 0 : 1) << 4) |
  ((world.leaseExpired ? 1 : 0) << 5) |
  (laneCode[world.lane] << 6) |
  (world.pauses << 8) |
  (world.crashes << 10) |
  (world.resends << 12) |
  (world.retries << 14) |
  (canonicalToken(world.armOnTheWire, world.token) << 16) |
  (world.spent << 18) |
  ((world.taken ? 1 : 0) << 22) |
  ((world.canceled ? 1 : 0) << 23) |
  (world.effects << 24) |
  ((world.inDoubt ? 1 : 0) << 26) |
  ((world.everTaken ? 1 : 0) << 27)

const packed: number[] = []
/** The workers, sorted: 8 bits each, so at most four. */
export const packWorkers = ({ workers, token }: World): number => {
  for (let i = 0; i < workers.length; i++) {
    const worker = workers[i]!
    const code = phaseCode[worker.phase] | (canonicalToken(worker.token, token) << 4) | (worker.decision << 6)
    let at = i
    while (at > 0 && packed[at - 1]! > code) packed[at] = packed[--at]!
    packed[at] = code
  }
  let word = 0
  for (let i = 0; i < workers.length; i++) word |= packed[i]! << (8 * i)
  return word
}

/** Writes the packed state into an existing world: the search allocates nothing per state. */
export const unpack = (row: number, workers: number, into: World): void => {
  into.state = ACTION_STATES[row & 15]!
  into.token = (row >> 4) & 1
  into.leaseExpired = ((row >> 5) & 1) === 1
  into.lane = LANES[(row >> 6) & 3]!
  into.pauses = (row >> 8) & 3
  into.crashes = (row >> 10) & 3
  into.resends = (row >> 12) & 3
  into.retries = (row >> 14) & 3
  into.armOnTheWire = (row >> 16) & 3
  into.spent = (row >> 18) & 15
  into.taken = ((row >> 22) & 1) === 1
  into.canceled = ((row >> 23) & 1) === 1
  into.effects = (row >> 24) & 3
  into.inDoubt = ((row >> 26) & 1) === 1
  into.everTaken = ((row >> 27) & 1) === 1
  into.by = null
  into.claims = OLDER
  for (let i = 0; i < into.workers.length; i++) {
    const worker = into.workers[i]!
    const code = (workers >> (8 * i)) & 255
    worker.phase = PHASES[code & 15]!
    worker.token = (code >> 4) & 3
    worker.decision = code >> 6
  }
}

/** Field by field: this is the inner loop of the search. */
export const copy = (from: World, into: World): void => {
  into.state = from.state
  into.token = from.token
  into.leaseExpired = from.leaseExpired
  into.lane = from.lane
  into.armOnTheWire = from.armOnTheWire
  into.inDoubt = from.inDoubt
  into.crashes = from.crashes
  into.pauses = from.pauses
  into.resends = from.resends
  into.retries = from.retries
  into.spent = from.spent
  into.taken = from.taken
  into.everTaken = from.everTaken
  into.canceled = from.canceled
  into.effects = from.effects
  into.by = from.by
  into.claims = from.claims
  for (let i = 0; i < from.workers.length; i++) {
    const worker = into.workers[i]!
    worker.phase = from.workers[i]!.phase
    worker.token = from.workers[i]!.token
    worker.decision = from.workers[i]!.decision
  }
}
