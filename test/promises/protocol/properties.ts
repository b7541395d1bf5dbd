/**
 * What must hold, whatever happens in whatever order.
 *
 * A hand-over decision is given at acceptance, by each resend and by each manual retry. A hand-over uses up
 * the decision its claim served, and only a recorded refusal (settled under the token that handed over, with
 * the provider's word that it did not take it) gives it back. An arm that leads to no hand-over uses nothing.
 */
import { ATTENTION_STATES, canMove, FINAL_STATES, type ActionState } from '../../../src/domain/states.js'
import type { Worker, World } from './world.js'

/** One step of the search. `worker` is the one that made it, as it was before. */
export interface Edge {
  before: World
  after: World
  worker: Worker | null
  handsOver: boolean
}

const NOT_SENT: ReadonlySet<ActionState> = new Set(['failed', 'dismissed', 'canceled', 'skipped', 'expired'])

/** Each answers: is this step a violation? */
const STEP_PROPERTIES = {
  /** A hand-over under a decision that is already used up is an email nobody decided to send. */
  'never twice': ({ before, worker, handsOver }: Edge) =>
    handsOver && worker !== null && (before.spent & (1 << worker.decision)) !== 0,

  'a database effect happens once': ({ after }: Edge) => after.effects > 1,

  /** Back from armed, or from the uncertain it became, only by its holder's proof, or by a person once uncertain. */
  'armed never goes back by itself': ({ before, after, worker }: Edge) => {
    if (before.state === 'armed' && after.by === 'rescue') return after.state !== 'uncertain'
    if (after.state !== 'pending' || (before.state !== 'armed' && before.state !== 'uncertain')) return false
    if (after.by === 'person') return before.state !== 'uncertain'
    return worker === null || worker.token !== before.token || before.taken
  },

  /** Done only if it was done; nothing else if it was taken; people may say what they like. */
  'the row tells the truth': ({ before, after }: Edge) => {
    if (after.by === null || after.by === 'person') return false
    if (after.state === 'done')
      return !(before.taken || (before.inDoubt && before.everTaken && after.by === 'evidence')) && after.effects === 0
    return before.taken && after.state !== 'armed' && after.state !== 'uncertain'
  },

  /** No arm of a canceled row; none in a canceled lane but one that had begun while the lane was open. */
  'no arm after a cancel': ({ before, after, worker }: Edge) =>
    after.by === 'arm' && (before.canceled || (before.lane === 'canceled' && worker?.phase !== 'lane seen')),

  /** Handed over without a recorded refusal, once or more often: then nothing may say that it was not sent. */
  'not sent means not taken': ({ after }: Edge) => (after.spent !== 0 || after.everTaken) && NOT_SENT.has(after.state),

  'every move is legal': ({ before, after }: Edge) =>
    after.by !== null && !canMove(before.state, after.state, after.by),
} as const

type StepProperty = keyof typeof STEP_PROPERTIES
/** Stated over the whole graph: an ending stays reachable by the system alone, from everywhere. */
export type Property = StepProperty | 'never stuck'

/** What holds without conditions. */
export const PROMISES: readonly Property[] = [
  'never twice',
  'a database effect happens once',
  'armed never goes back by itself',
  'the row tells the truth',
  'no arm after a cancel',
  'not sent means not taken',
  'every move is legal',
  'never stuck',
]

export const violates = (property: Property, edge: Edge): boolean =>
  property !== 'never stuck' && STEP_PROPERTIES[property](edge)

const ENDINGS: ReadonlySet<ActionState> = new Set([...FINAL_STATES, ...ATTENTION_STATES])
/** Its story is over, or a person is looking at it. */
export const isEnding = (state: ActionState): boolean => ENDINGS.has(state)
