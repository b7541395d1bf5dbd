import { type QueryClient, queryOptions } from '@tanstack/react-query'
import { api, ask } from '../../api/client'
import { readAll } from '../../api/read-all'
import type { Shape } from '../../api/types'

export type Sender = Shape<'Sender'>
export type Pace = Shape<'Pace'>

export const sendersQuery = queryOptions({
  queryKey: ['senders'],
  queryFn: () => readAll((query) => ask(api.GET('/api/senders', { params: { query } }))),
})

export const senderQuery = (id: string) =>
  queryOptions({
    queryKey: ['senders', id],
    queryFn: () => ask(api.GET('/api/senders/{id}', { params: { path: { id } } })),
  })

export const quotaQuery = (id: string) =>
  queryOptions({
    queryKey: ['senders', id, 'quota'],
    queryFn: () => ask(api.GET('/api/senders/{id}/quota', { params: { path: { id } } })),
  })

/** All that shows senders shows them as they are now. */
export const refreshSenders = (client: QueryClient) => client.invalidateQueries({ queryKey: ['senders'] })
