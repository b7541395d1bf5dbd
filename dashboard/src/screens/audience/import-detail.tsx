import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { api, ask } from '../../api/client'
import { StatusBadge } from '../../ui/badge'
import { type Column, DataTable } from '../../ui/data-table'
import { Empty } from '../../ui/empty'
import { Figure, PageHead, Panel } from '../../ui/panel'
import { QueryView } from '../../ui/query-view'
import { Time } from '../../ui/time'
import { showNumber } from '../../ui/number'

interface Problem {
  readonly line: number
  readonly detail: string
}
const COLUMNS: readonly Column<Problem>[] = [
  { id: 'line', head: 'Line', width: '6rem', align: 'right', cell: ({ line }) => showNumber(line) },
  {
    id: 'detail',
    head: 'What is wrong with it',
    width: 'minmax(0,1fr)',
    cell: ({ detail }) => (
      <span title={detail} className="line-clamp-2 leading-snug whitespace-normal">
        {detail}
      </span>
    ),
  },
]

export function ImportDetail() {
  const { id } = useParams({ strict: false }) as { id: string }
  const found = useQuery({
    queryKey: ['imports', id],
    queryFn: () => ask(api.GET('/api/imports/{id}', { params: { path: { id } } })),
    refetchInterval: ({ state }) => (state.data?.status === 'running' ? 1_000 : false),
  })
  return (
    <QueryView query={found}>
      {(one) => (
        <>
          <PageHead
            title="Import"
            lead={
              <span className="flex flex-wrap items-center gap-2">
                <StatusBadge status={one.status} /> begun <Time at={one.created_at} /> ·{' '}
                <Link to="/lists/$id" params={{ id: one.list_id }} className="underline">
                  its list
                </Link>
              </span>
            }
          />
          {one.failure !== null && (
            <p role="alert" className="mb-4 rounded-lg border border-bad/30 bg-bad-soft p-3 text-sm">
              It ended early: {one.failure} What it had read until then is kept; importing the file again merges.
            </p>
          )}
          <div className="mb-4 grid grid-cols-2 gap-3 sm:grid-cols-3 xl:grid-cols-6">
            <Figure label="Rows read" value={showNumber(one.rows_read)} />
            <Figure label="New contacts" value={showNumber(one.created)} />
            <Figure
              label="Merged"
              value={showNumber(one.updated)}
              hint={`${showNumber(one.repeated)} twice in the file`}
            />
            <Figure label="New on the list" value={showNumber(one.joined)} />
            <Figure label="Opted out, left so" value={showNumber(one.opted_out)} />
            <Figure
              label="Refused"
              value={showNumber(one.refused)}
              {...(one.refused > 0 && { mood: 'bad' as const })}
            />
          </div>
          <Panel title="Rows with problems" flush>
            <DataTable
              label="Rows with problems"
              rows={one.problems}
              columns={COLUMNS}
              keyOf={({ line, detail }) => `${line} ${detail}`}
              empty={<Empty title={one.status === 'running' ? 'None so far' : 'Every row was used'} />}
            />
          </Panel>
        </>
      )}
    </QueryView>
  )
}
