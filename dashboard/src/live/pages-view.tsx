import { ArrowUp } from 'lucide-react'
import type { ReactNode } from 'react'
import { Button } from '../ui/button'
import { type Column, DataTable, type Selection } from '../ui/data-table'
import { ProblemNote } from '../ui/problem-note'
import { Loading } from '../ui/spinner'
import type { useLivePages } from './use-live-pages'

/** A long list as a table: what is in it, what is on its way, what has come meanwhile, and what went wrong. */
export function PagesView<Row extends { readonly id: string }>({
  live: { pages, shown, name, isOld, pulse },
  label,
  newer,
  columns,
  empty,
  height,
  nameOf,
  selection,
}: {
  readonly live: ReturnType<typeof useLivePages<Row>>
  readonly label: string
  /** On the button that shows what has come meanwhile. */
  readonly newer: string
  readonly columns: readonly Column<Row>[]
  readonly empty: ReactNode
  readonly height: string
  readonly nameOf?: (row: Row) => string
  readonly selection?: Selection
}) {
  const { rows, isReady, hasMore, isLoading, hasNewer, restarts, error } = shown
  return (
    <>
      {pulse.isError && (
        <div className="p-3">
          <ProblemNote error={pulse.error} retry={() => void pulse.refetch()} />
        </div>
      )}
      {hasNewer && (
        <div role="status" className="flex justify-center border-b bg-calm-soft p-1.5">
          <Button small icon={<ArrowUp />} onClick={() => void pages.restart()}>
            {newer}
          </Button>
        </div>
      )}
      {isReady ? (
        <div aria-busy={isOld} className={isOld ? 'opacity-60' : ''}>
          <DataTable
            key={`${restarts} ${name}`}
            label={label}
            rows={rows}
            columns={columns}
            keyOf={keyOf}
            height={height}
            {...(nameOf && { nameOf })}
            {...(selection && { selection })}
            more={{ hasMore: hasMore && error === null && !isOld, loading: isLoading, load: pages.loadMore }}
            {...(!isOld && { onRange: pages.see })}
            empty={hasMore && error === null ? <Loading what="Looking further back" /> : empty}
          />
        </div>
      ) : (
        !pulse.isError && <Loading />
      )}
      {error !== null && (
        <div className="p-3">
          <ProblemNote error={error} retry={pages.loadMore} />
        </div>
      )}
    </>
  )
}

const keyOf = ({ id }: { readonly id: string }) => id
