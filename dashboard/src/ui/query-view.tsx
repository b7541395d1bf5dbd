import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { ProblemNote } from './problem-note'
import { Loading } from './spinner'

/** What a query has: its data, or that it is on its way, or why not. Old data stays, with a word about it. */
export function QueryView<T>({
  query,
  what,
  children,
}: {
  readonly query: UseQueryResult<T>
  readonly what?: string
  readonly children: (data: T) => ReactNode
}) {
  if (query.data !== undefined)
    return (
      <>
        {query.isError && (
          <div className="mb-3">
            <ProblemNote error={query.error} retry={() => void query.refetch()} />
          </div>
        )}
        {children(query.data)}
      </>
    )
  if (query.isError) return <ProblemNote error={query.error} retry={() => void query.refetch()} />
  return <Loading {...(what !== undefined && { what })} />
}
