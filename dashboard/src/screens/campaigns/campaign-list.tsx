import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { Plus } from 'lucide-react'
import { apiUrl } from '../../api/client'
import { useMayAct } from '../../shell/session'
import { StatusBadge } from '../../ui/badge'
import { Button } from '../../ui/button'
import { type Column, DataTable } from '../../ui/data-table'
import { Empty } from '../../ui/empty'
import { PageHead, Panel } from '../../ui/panel'
import { ProblemNote } from '../../ui/problem-note'
import { Loading } from '../../ui/spinner'
import { Time } from '../../ui/time'
import { CountsBar, overOf } from './campaign-counts'
import { type Campaign, campaignPages, rowProgressQuery, type Status, STATUSES } from './campaign-queries'
import { showNumber } from '../../ui/number'

const COLUMNS: readonly Column<Campaign>[] = [
  {
    id: 'name',
    head: 'Name',
    width: 'minmax(0,2fr)',
    cell: (campaign) => (
      <>
        <Link to="/campaigns/$id" params={{ id: campaign.id }} className="font-medium hover:underline">
          {campaign.name}
        </Link>
        <span className="mt-1 block pr-2 sm:hidden">
          <RowBar campaign={campaign} />
        </span>
      </>
    ),
  },
  { id: 'status', head: 'State', width: '7rem', cell: ({ status }) => <StatusBadge status={status} /> },
  {
    id: 'kind',
    head: 'Kind',
    width: '6rem',
    from: 'lg',
    cell: ({ sequence_id: sequence }) => <span className="text-soft">{sequence === null ? 'bulk' : 'sequence'}</span>,
  },
  {
    id: 'progress',
    head: 'Progress',
    width: 'minmax(9rem,2fr)',
    from: 'sm',
    cell: (campaign) => <RowBar campaign={campaign} words />,
  },
  {
    id: 'rate',
    head: 'Per minute',
    width: '6.5rem',
    from: 'lg',
    align: 'right',
    cell: (row) => <Rate campaign={row} />,
  },
  { id: 'when', head: 'When', width: '14rem', from: 'md', cell: (campaign) => <When campaign={campaign} /> },
]

export function CampaignList() {
  const mayAct = useMayAct()
  const navigate = useNavigate()
  const asked = (useSearch({ strict: false }) as { status?: string }).status
  const status = STATUSES.find((one) => one === asked)
  const query = useInfiniteQuery(campaignPages(status))
  const rows = query.data?.pages.flatMap(({ data }) => data) ?? []
  const make = mayAct && (
    <Button tone="primary" icon={<Plus />} onClick={() => void navigate({ to: '/campaigns/new' })}>
      New campaign
    </Button>
  )
  return (
    <>
      <PageHead title="Campaigns" lead="One email to a list, or a sequence for the people on it." actions={make} />
      <Panel flush>
        <nav aria-label="By state" className="flex gap-1 overflow-x-auto border-b p-2">
          {[undefined, ...STATUSES].map((one) => (
            <Filter key={one ?? 'all'} status={one} chosen={one === status} />
          ))}
        </nav>
        {query.isError && <ProblemNote error={query.error} retry={() => void query.refetch()} />}
        {query.isPending && <Loading />}
        {query.data && (
          <DataTable
            label="Campaigns"
            rows={rows}
            columns={COLUMNS}
            keyOf={({ id }) => id}
            more={{
              hasMore: query.hasNextPage,
              loading: query.isFetchingNextPage,
              load: () => void query.fetchNextPage(),
            }}
            empty={
              status ? (
                <Empty title={`No campaign is ${status === 'draft' ? 'a draft' : status}`} />
              ) : (
                <Empty title="No campaign yet" command={makeCommand()} actions={make}>
                  A campaign needs a list and a template, or a sequence. It is a draft until it is launched.
                </Empty>
              )
            }
          />
        )}
      </Panel>
    </>
  )
}

const Filter = ({ status, chosen }: { readonly status: Status | undefined; readonly chosen: boolean }) => (
  <Link
    to="/campaigns"
    search={(status ? { status } : {}) as never}
    activeOptions={{ exact: true, includeSearch: true }}
    aria-current={chosen ? 'true' : undefined}
    className={`rounded-md px-2.5 py-1 text-sm whitespace-nowrap ${chosen ? 'bg-accent-soft font-medium text-ink' : 'text-soft hover:bg-sunken'}`}
  >
    {status ?? 'all'}
  </Link>
)

function RowBar({ campaign, words }: { readonly campaign: Campaign; readonly words?: boolean }) {
  const { data } = useQuery(rowProgressQuery(campaign))
  if (!data)
    return words ? <span className="text-soft">{campaign.status === 'draft' ? 'not launched' : '…'}</span> : null
  const { counts } = data
  return (
    <span className="flex min-w-0 items-center gap-2">
      <span className="min-w-12 flex-1">
        <CountsBar counts={counts} label={`Progress of ${campaign.name}`} />
      </span>
      {words && (
        <span className="text-xs whitespace-nowrap text-soft tabular-nums">
          {showNumber(overOf(counts))} of {showNumber(counts.audience)}
          {counts.failed > 0 && <span className="text-bad"> · {showNumber(counts.failed)} failed</span>}
        </span>
      )}
    </span>
  )
}

function Rate({ campaign }: { readonly campaign: Campaign }) {
  const { data } = useQuery(rowProgressQuery(campaign))
  const rate = campaign.status === 'running' ? data?.rate_per_minute : null
  return rate == null ? <span className="text-soft">—</span> : showNumber(Math.round(rate))
}

function When({ campaign }: { readonly campaign: Campaign }) {
  const [word, at] =
    campaign.finished_at !== null
      ? ['ended', campaign.finished_at]
      : campaign.status === 'scheduled' || (campaign.status === 'draft' && campaign.scheduled_at !== null)
        ? ['starts', campaign.scheduled_at]
        : campaign.started_at !== null
          ? ['started', campaign.started_at]
          : ['made', campaign.created_at]
  return (
    <>
      <span className="text-soft">{word} </span>
      <Time at={at} />
    </>
  )
}

const makeCommand = () => `curl -X POST ${location.origin}${apiUrl('/api/campaigns')} \\
  -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' \\
  -d '{"name": "November news", "list_id": "lst_…", "template_id": "tpl_…"}'`
