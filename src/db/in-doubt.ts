import type { UNSENT_STATES } from '../domain/states.js'

/**
 * How an action ends that may have been taken already.
 *
 * `in_doubt` says that a hand-over nobody could decide about was followed by another. Whatever then ends it without a
 * yes (a refusal, a suppression, a person, a canceled lane, the end of its time) says nothing about the earlier one, and
 * `failed` or `canceled` would be a claim that nothing went out. So it is `uncertain` again. That is decided inside the
 * statement that ends it, where no crash can come between; a CHECK refuses a statement that forgot to ask.
 *
 * Its token is then the action's own id, which is no lease's: the worker that held it last may still release what it
 * believes to hold, and that must not bring back what was called off. A yes is heard all the same, from whichever
 * hand-over it comes (settle-actions). And the policy `on_uncertain` is taken away: it is for silence, and this end was
 * an answer or a decision. With it, a suppressed address would be tried again for ever.
 */
export const IN_DOUBT = 'An earlier hand-over was never answered, so it may have been taken.'

export interface UnsentEnd {
  readonly state: (typeof UNSENT_STATES)[number]
  readonly code: string
  /** What happened, as a sentence for the case of doubt; an SQL expression, like the next. */
  readonly said: string
  /** The reason when there is no doubt. */
  readonly reason: string
}

/** Ends what waits, or is held and not armed: for `update postrider.scheduled_actions set`. */
export const endUnsent = ({ state, code, said, reason }: UnsentEnd): string => `
    state = case when in_doubt then 'uncertain' else '${state}' end,
    wake_at = null,
    lease_token = case when in_doubt then id end,
    needs_attention = in_doubt,
    on_uncertain = case when not in_doubt then on_uncertain end,
    reason = case when in_doubt then ${said} || ' ${IN_DOUBT}' else ${reason} end,
    reason_code = '${code}'`

/** Its lane was canceled. The reason it had, of an attempt that failed, stays. */
export const LANE_CANCELED: UnsentEnd = {
  state: 'canceled',
  code: 'lane_canceled',
  said: `'Its lane was canceled.'`,
  reason: 'reason',
}
