import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { api, ask } from '../../api/client'
import type { Answer } from '../../api/types'
import { type EmailFilter, othersOf } from './email-filter'

export type EmailCounts = Answer<'/api/admin/email-counts'>

/** How many of each state match; the tabs do without while nobody has counted. */
export function useCounts(filter: EmailFilter): EmailCounts | undefined {
  const others = othersOf(filter)
  return useQuery({
    queryKey: ['emails', 'counts', others],
    queryFn: () => ask(api.GET('/api/admin/email-counts', { params: { query: others } })),
    placeholderData: keepPreviousData,
  }).data
}
