import { useInfiniteQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { api, ask } from '../../api/client'
import type { Entry } from '../../api/types'
import { Badge, type Mood } from '../../ui/badge'
import { type Column, DataTable } from '../../ui/data-table'
import { Empty } from '../../ui/empty'
import { TextField } from '../../ui/field'
import { Panel } from '../../ui/panel'
import { ProblemNote } from '../../ui/problem-note'
import { Loading } from '../../ui/spinner'
import { Time, ZoneSwitch } from '../../ui/time'
import { SettingsFrame } from './settings-frame'

type Row = Entry<'/api/admin/audit'>

const MOODS: Record<Row['outcome'], Mood> = { done: 'good', refused: 'warn', failed: 'bad', not_known: 'doubt' }

const COLUMNS: readonly Column<Row>[] = [
  { id: 'at', head: 'When', width: 'clamp(8.5rem, 25vw, 10.5rem)', cell: ({ at }) => <Time at={at} /> },
  {
    id: 'actor',
    head: 'Who',
    width: 'minmax(5rem,1.4fr)',
    from: 'sm',
    cell: ({ actor, actor_kind: kind }) => <span title={`${actor} (${kind})`}>{actor}</span>,
  },
  {
    id: 'summary',
    head: 'What',
    width: 'minmax(0,1.9fr)',
    cell: ({ summary, action, actor, outcome }) => (
      <>
        <span title={action}>{summary}</span>
        <span className="block truncate text-xs text-soft sm:hidden">
          {actor} · {outcome.replace('_', ' ')}
        </span>
      </>
    ),
  },
  {
    id: 'target',
    head: 'To',
    width: 'minmax(0,2.25fr)',
    from: 'md',
    cell: ({ target }) => <code className="font-mono text-xs">{target ?? '—'}</code>,
  },
  {
    id: 'detail',
    head: 'With',
    width: 'minmax(0,1.45fr)',
    from: 'lg',
    cell: ({ detail }) => <Detail detail={detail} />,
  },
  {
    id: 'outcome',
    head: 'Outcome',
    width: '8rem',
    from: 'sm',
    cell: ({ outcome, problem }) => (
      <span title={problem ?? undefined}>
        <Badge mood={MOODS[outcome]}>{outcome.replace('_', ' ')}</Badge>
      </span>
    ),
  },
]

const Detail = ({ detail }: { readonly detail: Row['detail'] }) => {
  const { begun: _begun, changed, refused, in_all: inAll, ...rest } = detail
  // Of a deed in parts, how far it came is what somebody looks for.
  const facts =
    inAll === undefined ? detail : { changed: `${changed} of ${inAll}`, ...(refused !== 0 && { refused }), ...rest }
  const text = Object.entries(facts)
    .map(([name, value]) => `${name}: ${value}`)
    .join(', ')
  return (
    <span className="text-xs text-soft" title={text}>
      {text || '—'}
    </span>
  )
}

export function Audit() {
  return (
    <SettingsFrame
      lead="Everything that was done here, and every login, for a year."
      operatorsOnly
      actions={<ZoneSwitch />}
    >
      <Log />
    </SettingsFrame>
  )
}

function Log() {
  const search = useSearch({ strict: false }) as { actor?: string; action?: string; target?: string }
  const navigate = useNavigate()
  const set = (name: 'actor' | 'action' | 'target', value: string) =>
    void navigate({ to: '/settings/audit', search: { ...search, [name]: value } as never, replace: true })
  const filter = Object.fromEntries(
    Object.entries(search).filter(([name, value]) => ['actor', 'action', 'target'].includes(name) && value),
  )
  const log = useInfiniteQuery({
    queryKey: ['settings', 'audit', filter],
    initialPageParam: null as string | null,
    queryFn: ({ pageParam }) =>
      ask(
        api.GET('/api/admin/audit', {
          params: { query: { limit: 100, ...filter, ...(pageParam && { after: pageParam }) } },
        }),
      ),
    getNextPageParam: (page) => (page.has_more ? (page.data.at(-1)?.id ?? null) : null),
  })
  const rows = log.data?.pages.flatMap(({ data }) => data) ?? []
  return (
    <Panel flush>
      <div className="grid gap-3 border-b p-4 sm:grid-cols-3">
        <TextField label="Who" value={search.actor ?? ''} onChange={(event) => set('actor', event.target.value)} />
        <TextField
          label="What"
          value={search.action ?? ''}
          placeholder="pause"
          onChange={(event) => set('action', event.target.value)}
        />
        <TextField
          label="To"
          value={search.target ?? ''}
          placeholder="cmp_…"
          onChange={(event) => set('target', event.target.value)}
        />
      </div>
      {log.isError && <ProblemNote error={log.error} retry={() => void log.refetch()} />}
      {log.isPending ? (
        <Loading />
      ) : (
        <DataTable
          label="Audit log"
          rows={rows}
          columns={COLUMNS}
          keyOf={({ id }) => id}
          more={{ hasMore: log.hasNextPage, loading: log.isFetchingNextPage, load: () => void log.fetchNextPage() }}
          empty={
            <Empty title="Nothing that matches">What is changed at the dashboard, and every login, appears here.</Empty>
          }
        />
      )}
    </Panel>
  )
}
