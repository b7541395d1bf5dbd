import { useNavigate, useSearch } from '@tanstack/react-router'
import { useMemo } from 'react'
import type { Shape } from '../../api/types'

/** Which emails are shown: what the address says, in the words of `GET /api/emails`. */
export type EmailStatus = Shape<'EmailStatus'>

const NAMES = [
  'status',
  'q',
  'to',
  'campaign_id',
  'sender_id',
  'reason_code',
  'created_after',
  'created_before',
] as const
export type FilterName = (typeof NAMES)[number]
export type EmailFilter = { readonly [Name in Exclude<FilterName, 'status'>]?: string } & {
  readonly status?: EmailStatus
}

/** In the order they are offered: what waits, what needs somebody, what is over. */
export const STATUSES: readonly EmailStatus[] = [
  'scheduled',
  'retry_scheduled',
  'sending',
  'failed',
  'uncertain',
  'sent',
  'suppressed',
  'canceled',
  'expired',
  'dismissed',
]

/** Undefined takes one away. */
export type FilterChange = { readonly [Name in FilterName]?: string | undefined }

export function useEmailFilter(): readonly [EmailFilter, (change: FilterChange) => void] {
  const search = useSearch({ strict: false }) as Readonly<Record<string, string | undefined>>
  const navigate = useNavigate()
  const text = NAMES.map((name) => search[name] ?? '').join('\n')
  const filter = useMemo(() => {
    const given = Object.fromEntries(
      text.split('\n').flatMap((value, i) => (value === '' ? [] : [[NAMES[i]!, value]])),
    ) as EmailFilter
    // A state that does not exist is none: an old link still shows something.
    if (given.status === undefined || STATUSES.includes(given.status)) return given
    return othersOf(given)
  }, [text])
  const change = (changed: FilterChange) =>
    void navigate({ to: '/email-queue', search: { ...filter, ...changed } as never, replace: true })
  return [filter, change]
}

/** Without its state: what all the tabs have in common. */
export function othersOf(filter: EmailFilter): EmailFilter {
  const { status, ...others } = filter
  return status === undefined ? filter : others
}
export const isNarrowed = (filter: EmailFilter): boolean => Object.keys(othersOf(filter)).length > 0
