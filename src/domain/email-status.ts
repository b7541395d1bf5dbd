import type { ActionState } from './states.js'

/**
 * The names people know. An email is shown as the least finished of its deliveries, so the order here matters: the
 * first of these that any delivery has is what the email has.
 */
export const EMAIL_STATUSES = [
  'scheduled',
  'retry_scheduled',
  'sending',
  'uncertain',
  'failed',
  'expired',
  'suppressed',
  'canceled',
  'dismissed',
  'sent',
] as const
export type EmailStatus = (typeof EMAIL_STATUSES)[number]

const BY_STATE: Readonly<Record<Exclude<ActionState, 'pending'>, EmailStatus>> = {
  leased: 'sending',
  armed: 'sending',
  done: 'sent',
  failed: 'failed',
  uncertain: 'uncertain',
  canceled: 'canceled',
  skipped: 'suppressed',
  expired: 'expired',
  dismissed: 'dismissed',
}

/** A pending action that has a reason has failed before: also one whose inline attempt failed, which does not count. */
export const statusOf = (state: ActionState, reasonCode: string | null): EmailStatus =>
  state === 'pending' ? (reasonCode === null ? 'scheduled' : 'retry_scheduled') : BY_STATE[state]

export const leastFinished = (statuses: readonly EmailStatus[]): EmailStatus =>
  EMAIL_STATUSES.find((status) => statuses.includes(status)) ?? 'scheduled'

/** The states an email of that status has a delivery in, for asking the database. */
export const statesOf = (status: EmailStatus): readonly ActionState[] =>
  status === 'scheduled' || status === 'retry_scheduled'
    ? ['pending']
    : (Object.keys(BY_STATE) as (keyof typeof BY_STATE)[]).filter((state) => BY_STATE[state] === status)
