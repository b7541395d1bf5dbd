import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { Ellipsis, Pause, Play, Square } from 'lucide-react'
import { useState } from 'react'
import { api, ask } from '../../api/client'
import type { Entry } from '../../api/types'
import { useMayAct } from '../../shell/session'
import { StatusBadge } from '../../ui/badge'
import { IconButton } from '../../ui/button'
import { type Column, DataTable } from '../../ui/data-table'
import { Confirm } from '../../ui/dialog'
import { Empty } from '../../ui/empty'
import { Choice } from '../../ui/field'
import { Menu } from '../../ui/menu'
import { Panel } from '../../ui/panel'
import { ProblemNote } from '../../ui/problem-note'
import { Loading } from '../../ui/spinner'
import { Time } from '../../ui/time'
import { say } from '../../ui/toasts'
import { whereIs } from './where-is'

type Row = Entry<'/api/enrollments'>
const STATES = ['active', 'paused', 'completed', 'stopped'] as const

/** Who walks a sequence in a campaign, and where they are. */
export function EnrollmentTable({ campaignId }: { readonly campaignId: string }) {
  const client = useQueryClient()
  const navigate = useNavigate()
  const mayAct = useMayAct()
  const [stopping, setStopping] = useState<Row | null>(null)
  const search = useSearch({ strict: false }) as Record<string, string | undefined>
  const state = STATES.find((one) => one === search['state'])
  const walks = useInfiniteQuery({
    queryKey: ['enrollments', campaignId, state],
    initialPageParam: null as string | null,
    queryFn: ({ pageParam }) =>
      ask(
        api.GET('/api/enrollments', {
          params: {
            query: {
              campaign_id: campaignId,
              limit: 100,
              ...(state && { state }),
              ...(pageParam && { after: pageParam }),
            },
          },
        }),
      ),
    getNextPageParam: (page) => (page.has_more ? (page.data.at(-1)?.id ?? null) : null),
  })
  const steer = useMutation({
    mutationFn: ({ id, verb }: { id: string; verb: 'pause' | 'resume' }) => {
      const path = { params: { path: { id } } }
      return ask(
        verb === 'pause'
          ? api.POST('/api/enrollments/{id}/pause', path)
          : api.POST('/api/enrollments/{id}/resume', path),
      )
    },
    async onSuccess(_, { verb }) {
      say(verb === 'pause' ? 'Paused: nothing of it goes out.' : 'It goes on.')
      await client.invalidateQueries({ queryKey: ['enrollments'] })
    },
  })
  const columns: readonly Column<Row>[] = [
    { id: 'state', head: 'State', width: '7.5rem', cell: (row) => <StatusBadge status={row.state} /> },
    {
      id: 'contact',
      head: 'Contact',
      width: 'minmax(0,1.5fr)',
      cell: (row) => (
        <Link to="/enrollments/$id" params={{ id: row.id }} className="hover:underline">
          {row.email ?? 'a removed contact'}
        </Link>
      ),
    },
    {
      id: 'walk',
      head: 'Where',
      width: 'minmax(0,1fr)',
      from: 'sm',
      cell: (row) => <span>{whereIs(row)}</span>,
    },
    {
      id: 'next',
      head: 'Next email',
      width: '8.5rem',
      from: 'sm',
      cell: (row) => (row.next ? <Time at={row.next.scheduled_at} /> : '—'),
    },
    {
      id: 'reason',
      head: 'Why',
      width: 'minmax(0,1fr)',
      from: 'sm',
      cell: (row) => <span title={row.reason ?? ''}>{row.reason ?? '—'}</span>,
    },
    { id: 'moved', head: 'Moved', width: '8.5rem', from: 'sm', cell: (row) => <Time at={row.moved_at} /> },
    ...(mayAct
      ? [
          {
            id: 'actions',
            head: <span className="sr-only">Actions</span>,
            width: '4.5rem',
            cell: (row: Row) =>
              row.finished_at === null && (
                <Menu
                  trigger={<IconButton label="What can be done" icon={<Ellipsis />} />}
                  items={[
                    row.state === 'paused'
                      ? {
                          label: 'Resume',
                          icon: <Play />,
                          onSelect: () => steer.mutate({ id: row.id, verb: 'resume' }),
                        }
                      : {
                          label: 'Pause',
                          icon: <Pause />,
                          onSelect: () => steer.mutate({ id: row.id, verb: 'pause' }),
                        },
                    { label: 'Stop for good', icon: <Square />, danger: true, onSelect: () => setStopping(row) },
                  ]}
                />
              ),
          },
        ]
      : []),
  ]
  const rows = walks.data?.pages.flatMap(({ data }) => data) ?? []
  return (
    <Panel
      title="People"
      flush
      actions={
        <Choice
          label="Show"
          hideLabel
          value={state ?? ''}
          onChange={(event) => void navigate({ to: '.', search: { ...search, state: event.target.value } as never })}
        >
          <option value="">everybody</option>
          {STATES.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </Choice>
      }
    >
      {walks.isError && <ProblemNote error={walks.error} retry={() => void walks.refetch()} />}
      {walks.isPending ? (
        <Loading />
      ) : (
        <DataTable
          label="People in the sequence"
          rows={rows}
          columns={columns}
          keyOf={({ id }) => id}
          height="50vh"
          more={{
            hasMore: walks.hasNextPage,
            loading: walks.isFetchingNextPage,
            load: () => void walks.fetchNextPage(),
          }}
          empty={<Empty title="Nobody" command={`npx postrider campaigns enroll ${campaignId} --list Newsletter`} />}
        />
      )}
      <Confirm
        open={stopping !== null}
        onClose={() => setStopping(null)}
        title="Stop this walk for good?"
        lead="What has not gone out never will. This cannot be undone."
        action="Stop walk"
        tone="danger"
        run={async () => {
          await ask(api.POST('/api/enrollments/{id}/stop', { params: { path: { id: stopping!.id } } }))
          await client.invalidateQueries({ queryKey: ['enrollments'] })
        }}
      />
    </Panel>
  )
}
