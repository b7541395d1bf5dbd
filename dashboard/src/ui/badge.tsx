import type { ReactNode } from 'react'

export type Mood = 'good' | 'warn' | 'bad' | 'doubt' | 'calm' | 'plain'

export const MOODS: Record<Mood, string> = {
  good: 'bg-good-soft text-good',
  warn: 'bg-warn-soft text-warn',
  bad: 'bg-bad-soft text-bad',
  doubt: 'bg-doubt-soft text-doubt',
  calm: 'bg-calm-soft text-calm',
  plain: 'bg-sunken text-soft',
}

export const Badge = ({ mood = 'plain', children }: { readonly mood?: Mood; readonly children: ReactNode }) => (
  <span
    className={`inline-flex items-center gap-1 rounded-full px-2 py-0.5 text-xs font-medium whitespace-nowrap ${MOODS[mood]}`}
  >
    {children}
  </span>
)

/** For what somebody else named, as long as they liked and without a space. */
export const LongBadge = ({ children }: { readonly children: ReactNode }) => (
  <span className={`min-w-0 rounded-lg px-2 py-0.5 text-xs font-medium break-all ${MOODS.plain}`}>{children}</span>
)

/** One mood per word of the product, wherever it is shown: states of emails, campaigns, senders, walks, imports. */
const STATUS_MOODS: Readonly<Record<string, Mood>> = {
  sent: 'good',
  delivered: 'good',
  done: 'good',
  completed: 'good',
  finished: 'good',
  active: 'good',
  subscribed: 'good',
  accepted: 'good',
  sending: 'calm',
  running: 'calm',
  scheduled: 'calm',
  queued: 'calm',
  pending: 'calm',
  walking: 'calm',
  launching: 'calm',
  retry_scheduled: 'warn',
  deferred: 'warn',
  paused: 'warn',
  slowed: 'warn',
  expired: 'warn',
  suppressed: 'warn',
  skipped: 'warn',
  unsubscribed: 'warn',
  failed: 'bad',
  rejected: 'bad',
  bounced: 'bad',
  complained: 'bad',
  uncertain: 'doubt',
}

export const moodOf = (status: string): Mood => STATUS_MOODS[status] ?? 'plain'
export const wordOf = (status: string): string => status.replaceAll('_', ' ')

export const StatusBadge = ({ status }: { readonly status: string }) => (
  <Badge mood={moodOf(status)}>
    <span aria-hidden className="size-1.5 rounded-full bg-current" />
    {wordOf(status)}
  </Badge>
)
