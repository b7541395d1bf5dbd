import { queryOptions, useSuspenseQuery } from '@tanstack/react-query'
import { api, ask } from '../api/client'
import { problemOf } from '../api/problem'

/** Who is looking; null for nobody. */
export const sessionQuery = queryOptions({
  queryKey: ['session'],
  staleTime: Number.POSITIVE_INFINITY,
  retry: false,
  async queryFn() {
    try {
      return await ask(api.GET('/api/admin/session'))
    } catch (error) {
      if (problemOf(error).status === 401) return null
      throw error
    }
  },
})

export const useSession = () => useSuspenseQuery(sessionQuery).data

/** Viewers see everything and change nothing; what they cannot do is not offered to them. */
export const useMayAct = (): boolean => useSession()?.role === 'operator'
