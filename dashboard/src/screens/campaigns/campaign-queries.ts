import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query'
import { api, ask } from '../../api/client'
import { readAll } from '../../api/read-all'
import type { Shape } from '../../api/types'

export type Campaign = Shape<'Campaign'>
export type Progress = Shape<'CampaignProgress'>
export type Counts = Shape<'CampaignCounts'>
export type Preflight = Shape<'Preflight'>

export const STATUSES = ['draft', 'running', 'scheduled', 'paused', 'sent', 'canceled'] as const
export type Status = Campaign['status']

/** Something may happen to it at any moment. */
export const isUnderWay = (status: Status | undefined): boolean => status === 'running' || status === 'scheduled'

/** The stream says what happens; this is for what passes without a word: a rate, a time that comes. */
const LOOK_MS = 5_000

export const campaignPages = (status: Status | undefined) =>
  infiniteQueryOptions({
    queryKey: ['campaigns', 'pages', status ?? 'all'],
    initialPageParam: '',
    queryFn: ({ pageParam }) =>
      ask(
        api.GET('/api/campaigns', {
          params: { query: { limit: 50, ...(status && { status }), ...(pageParam && { after: pageParam }) } },
        }),
      ),
    getNextPageParam: (page) => (page.has_more ? page.data.at(-1)?.id : undefined),
  })

export const campaignQuery = (id: string) =>
  queryOptions({
    queryKey: ['campaigns', id],
    refetchInterval: (query) => isUnderWay(query.state.data?.status) && LOOK_MS,
    queryFn: () => ask(api.GET('/api/campaigns/{id}', { params: { path: { id } } })),
  })

export const progressQuery = (id: string) =>
  queryOptions({
    queryKey: ['campaigns', id, 'progress'],
    refetchInterval: (query) => isUnderWay(query.state.data?.status) && LOOK_MS,
    queryFn: () => ask(api.GET('/api/campaigns/{id}/schedule', { params: { path: { id } } })),
  })

/** For a row of a list: what is over is not asked for again with every email that goes out anywhere. */
export const rowProgressQuery = ({ id, status }: Pick<Campaign, 'id' | 'status'>) =>
  isUnderWay(status) || status === 'paused'
    ? progressQuery(id)
    : queryOptions({
        queryKey: ['finished-campaigns', id, 'progress'],
        enabled: status !== 'draft',
        queryFn: () => ask(api.GET('/api/campaigns/{id}/schedule', { params: { path: { id } } })),
      })

/** Renders for hundreds of people: not asked for again with every email that goes out, but whenever somebody comes to look. */
export const preflightQuery = ({ id, updated_at: at }: Pick<Campaign, 'id' | 'updated_at'>) =>
  queryOptions({
    queryKey: ['preflight', id, at],
    staleTime: 0,
    queryFn: () => ask(api.GET('/api/campaigns/{id}/preflight', { params: { path: { id } } })),
  })

/** Asked for again when another number of emails has failed. */
export const failuresQuery = (id: string, failed: number) =>
  queryOptions({
    queryKey: ['failures', id, failed],
    placeholderData: keepPreviousData,
    queryFn: () => ask(api.GET('/api/campaigns/{id}/failures', { params: { path: { id } } })),
  })

export const listQuery = (id: string) =>
  queryOptions({
    queryKey: ['lists', id],
    queryFn: () => ask(api.GET('/api/lists/{id}', { params: { path: { id } } })),
  })

/** To choose from. */
export const listChoices = queryOptions({
  queryKey: ['lists', 'choices'],
  queryFn: () => readAll((query) => ask(api.GET('/api/lists', { params: { query } }))),
})
export const senderChoices = queryOptions({
  queryKey: ['senders', 'choices'],
  queryFn: () => readAll((query) => ask(api.GET('/api/senders', { params: { query } }))),
})
export const sequenceChoices = queryOptions({
  queryKey: ['sequences', 'choices'],
  queryFn: () => readAll((query) => ask(api.GET('/api/sequences', { params: { query } }))),
})

/** People are enrolled for so long before a request is answered; the others follow by themselves, and are counted. */
export const ENROLL_WITHIN_MS = 50
