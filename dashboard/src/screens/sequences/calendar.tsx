import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { api, ask } from '../../api/client'
import { readAll } from '../../api/read-all'
import type { Entry } from '../../api/types'
import { StatusBadge } from '../../ui/badge'
import { type Column, DataTable } from '../../ui/data-table'
import { Empty } from '../../ui/empty'
import { Choice } from '../../ui/field'
import { PageHead, Panel } from '../../ui/panel'
import { ProblemNote } from '../../ui/problem-note'
import { QueryView } from '../../ui/query-view'
import { Loading } from '../../ui/spinner'
import { formatTime, Time, useZone, ZoneSwitch } from '../../ui/time'
import { SimulationView } from './simulation-view'

type Row = Entry<'/api/campaigns/{id}/scheduled-emails'>

/** What a campaign will send when: what is planned, or what would be if it were launched now. */
export function Calendar() {
  const search = useSearch({ strict: false }) as { campaign?: string; show?: string }
  const navigate = useNavigate()
  const zone = useZone()
  const campaigns = useQuery({
    queryKey: ['campaigns', 'calendar'],
    queryFn: () => readAll((query) => ask(api.GET('/api/campaigns', { params: { query } })), 500),
  })
  return (
    <>
      <PageHead title="Calendar" lead={`What will go out when. Times in ${zone}.`} actions={<ZoneSwitch />} />
      <QueryView query={campaigns}>
        {(data) => {
          const chosen =
            data.find(({ id }) => id === search.campaign) ?? data.find(({ status }) => status === 'running') ?? data[0]
          if (!chosen)
            return (
              <Panel>
                <Empty
                  title="No campaign yet"
                  command="npx postrider campaigns create Spring --list Newsletter --template spring"
                >
                  A campaign's emails appear here with the time they are due.
                </Empty>
              </Panel>
            )
          const isDraft = chosen.status === 'draft'
          const simulated = search.show === 'simulated' || (search.show === undefined && isDraft)
          const set = (change: Record<string, string>) =>
            void navigate({ to: '/calendar', search: { ...search, ...change } as never })
          return (
            <div className="flex flex-col gap-4">
              <Panel>
                <div className="grid gap-3 sm:grid-cols-2">
                  <Choice
                    label="Campaign"
                    value={chosen.id}
                    onChange={(event) => set({ campaign: event.target.value })}
                  >
                    {data.map(({ id, name, status }) => (
                      <option key={id} value={id}>
                        {name} ({status})
                      </option>
                    ))}
                  </Choice>
                  <Choice
                    label="Show"
                    value={simulated ? 'simulated' : 'planned'}
                    onChange={(event) => set({ show: event.target.value })}
                  >
                    <option value="planned">what is planned</option>
                    <option value="simulated">what would go out if nobody answered (simulation)</option>
                  </Choice>
                </div>
              </Panel>
              {simulated ? <SimulationView campaignId={chosen.id} /> : <Planned campaignId={chosen.id} zone={zone} />}
            </div>
          )
        }}
      </QueryView>
    </>
  )
}

function Planned({ campaignId, zone }: { readonly campaignId: string; readonly zone: string }) {
  const emails = useInfiniteQuery({
    queryKey: ['calendar', campaignId],
    initialPageParam: null as string | null,
    queryFn: ({ pageParam }) =>
      ask(
        api.GET('/api/campaigns/{id}/scheduled-emails', {
          params: {
            path: { id: campaignId },
            query: { order: 'time', limit: 100, ...(pageParam && { after: pageParam }) },
          },
        }),
      ),
    getNextPageParam: (page) => (page.has_more ? (page.data.at(-1)?.id ?? null) : null),
  })
  const columns: readonly Column<Row>[] = [
    {
      id: 'at',
      head: `When (${zone})`,
      // The day of the week and the seconds only where there is room for them.
      width: 'clamp(8.5rem, 32vw, 16rem)',
      cell: ({ next_attempt_at: at }) =>
        at === null ? (
          '—'
        ) : (
          <>
            <span className="md:hidden">
              <Time at={at} />
            </span>
            <span className="tabular-nums max-md:hidden">{formatTime(at, zone)}</span>
          </>
        ),
    },
    {
      id: 'to',
      head: 'To',
      width: 'minmax(0,1.5fr)',
      cell: ({ id, address }) => (
        <Link to="/emails/$id" params={{ id }} className="hover:underline">
          {address}
        </Link>
      ),
    },
    { id: 'subject', head: 'Subject', width: 'minmax(0,2fr)', from: 'md', cell: ({ subject }) => subject },
    { id: 'status', head: 'State', width: '9rem', from: 'sm', cell: ({ status }) => <StatusBadge status={status} /> },
  ]
  const rows = emails.data?.pages.flatMap(({ data }) => data) ?? []
  return (
    <Panel title="Planned, soonest first" flush>
      {emails.isError && <ProblemNote error={emails.error} retry={() => void emails.refetch()} />}
      {emails.isPending ? (
        <Loading />
      ) : (
        <DataTable
          label="Planned emails"
          rows={rows}
          columns={columns}
          keyOf={({ id }) => id}
          more={{
            hasMore: emails.hasNextPage,
            loading: emails.isFetchingNextPage,
            load: () => void emails.fetchNextPage(),
          }}
          empty={
            <Empty title="Nothing waits">
              A bulk campaign plans its next batches only when there is room; the simulation looks further ahead.
            </Empty>
          }
        />
      )}
    </Panel>
  )
}
