import type { Evidence, FailureClass } from './failure.js'

export const ATTEMPT_OUTCOMES = ['accepted', 'deferred', 'rejected', 'uncertain'] as const
export type AttemptOutcome = (typeof ATTEMPT_OUTCOMES)[number]

/** One hand-over of an email to a provider, as it is kept. */
export interface Attempt extends Evidence {
  /** Made before it is written, so that writing it twice writes it once. */
  readonly id: string
  readonly outcome: AttemptOutcome
  readonly failure: FailureClass | null
  readonly worker: string
  /** Made inside the request that accepted the email; does not count against its attempts. */
  readonly inline: boolean
}
