import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { CircleCheck } from 'lucide-react'
import { api, ask } from '../../api/client'
import type { Shape } from '../../api/types'
import { StatusBadge } from '../../ui/badge'
import { Empty } from '../../ui/empty'
import { Figure, PageHead, Panel } from '../../ui/panel'
import { Progress } from '../../ui/progress'
import { QueryView } from '../../ui/query-view'
import { describeDistance, formatDuration, Time } from '../../ui/time'
import { CountsBar, overOf } from '../campaigns/campaign-counts'
import { AttentionList } from './attention-list'
import { ThroughputPanel } from './throughput-panel'
import { UpcomingPanel } from './upcoming-panel'
import { showNumber } from '../../ui/number'

type Dashboard = Shape<'Dashboard'>

/** A sleepy tab asks again even when nothing is heard. */
const REFRESH_MS = 15_000
/** Older than this, what is due is not merely waiting its turn. */
const LATE_SECONDS = 60

export function Overview() {
  const dashboard = useQuery({
    queryKey: ['overview'],
    queryFn: () => ask(api.GET('/api/admin/dashboard')),
    refetchInterval: REFRESH_MS,
  })
  return (
    <QueryView query={dashboard}>
      {(data) => (
        <>
          <PageHead title="Overview" lead={<Mood dashboard={data} />} />
          <div className="flex flex-col gap-4">
            <Figures dashboard={data} />
            {data.attention.length > 0 && <AttentionList items={data.attention} />}
            <div className="grid gap-4 xl:grid-cols-[2fr_1fr]">
              <ThroughputPanel />
              <UpcomingPanel />
            </div>
            <div className="grid gap-4 lg:grid-cols-2">
              <Campaigns dashboard={data} />
              <Senders dashboard={data} />
            </div>
          </div>
        </>
      )}
    </QueryView>
  )
}

/** One sentence for whoever has one second. */
function Mood({
  dashboard: { attention, due_now: due, pending_email_count: pending },
}: {
  readonly dashboard: Dashboard
}) {
  const urgent = attention.filter(({ severity }) => severity === 'critical').length
  if (urgent > 0) return <strong className="text-bad">Something stands still until somebody looks at it.</strong>
  const looks = attention.filter(({ severity }) => severity === 'warning').length
  if (looks > 0) return <>Mail flows. {looks === 1 ? 'One thing wants' : `${looks} things want`} a look.</>
  return (
    <span className="inline-flex items-center gap-1.5">
      <CircleCheck aria-hidden className="size-4 text-good" />
      {due > 0
        ? 'All is well, and mail is going out.'
        : pending > 0
          ? 'All is well. What waits is not due yet.'
          : 'All is well. Nothing waits.'}
    </span>
  )
}

function Figures({ dashboard }: { readonly dashboard: Dashboard }) {
  const show = (name: Dashboard['rough'][number], value: number) =>
    `${dashboard.rough.includes(name) ? (name.startsWith('failed') || name.startsWith('uncertain') ? '≥ ' : '≈ ') : ''}${showNumber(value)}`
  const { oldest_due_seconds: oldest, schedule_lag: lag } = dashboard
  return (
    <div className="grid grid-cols-2 gap-3 md:grid-cols-3 xl:grid-cols-6">
      <Figure
        label="Due now"
        value={show('due_now', dashboard.due_now)}
        hint={`${showNumber(dashboard.sending_email_count)} being sent`}
      />
      <Figure
        label="Next hour"
        value={show('next_hour', dashboard.next_hour)}
        hint={`${show('pending_email_count', dashboard.pending_email_count)} wait in all`}
      />
      <Figure
        label="Oldest due"
        value={oldest === null ? '—' : formatDuration(oldest)}
        hint={oldest === null ? 'nothing is due' : 'waits that long'}
        {...(oldest !== null && oldest > LATE_SECONDS && { mood: 'warn' as const })}
      />
      <Figure
        label="Schedule lag"
        value={lag === null ? '—' : formatLag(lag.p95_seconds)}
        hint={lag === null ? 'nothing in the last hour' : `p95; half within ${formatLag(lag.p50_seconds)}`}
      />
      <Link to="/email-queue" search={{ status: 'failed' } as never}>
        <Figure
          label="Failed"
          value={show('failed_email_count', dashboard.failed_email_count)}
          hint={dashboard.failed_email_count > 0 ? 'to retry or dismiss' : 'nothing to decide'}
          {...(dashboard.failed_email_count > 0 && { mood: 'bad' as const })}
        />
      </Link>
      <Link to="/email-queue" search={{ status: 'uncertain' } as never}>
        <Figure
          label="Uncertain"
          value={show('uncertain_email_count', dashboard.uncertain_email_count)}
          hint={dashboard.uncertain_email_count > 0 ? 'nobody can know; decide' : 'nothing to decide'}
          {...(dashboard.uncertain_email_count > 0 && { mood: 'doubt' as const })}
        />
      </Link>
    </div>
  )
}

const formatLag = (seconds: number) => (seconds < 1 ? `${Math.round(seconds * 1_000)} ms` : formatDuration(seconds))

function Campaigns({ dashboard: { campaigns, has_more_campaigns: hasMore } }: { readonly dashboard: Dashboard }) {
  return (
    <Panel
      title="Campaigns under way"
      flush
      actions={
        hasMore && (
          <Link to="/campaigns" className="text-xs text-soft underline">
            all of them
          </Link>
        )
      }
    >
      {campaigns.length === 0 ? (
        <Empty
          title="No campaign is under way"
          command={`npx postrider campaigns create Spring --list Newsletter --template spring\nnpx postrider campaigns launch Spring`}
        >
          What goes to a list is seen here from its launch to its end.{' '}
          <Link to="/campaigns" className="underline underline-offset-2">
            To the campaigns
          </Link>
        </Empty>
      ) : (
        <ul className="divide-y">
          {campaigns.map(({ id, name, status, progress }) => (
            <li key={id} className="flex flex-col gap-1.5 px-4 py-3 text-sm">
              <div className="flex items-center justify-between gap-2">
                <Link to="/campaigns/$id" params={{ id }} className="min-w-0 truncate font-medium hover:underline">
                  {name}
                </Link>
                <StatusBadge status={status} />
              </div>
              {progress ? (
                <>
                  <CountsBar counts={progress.counts} label={`Progress of ${name}`} />
                  <p className="text-xs text-soft">
                    {showNumber(overOf(progress.counts))} of {showNumber(progress.counts.audience)}
                    {progress.rate_per_minute !== null &&
                      ` · ${showNumber(Math.round(progress.rate_per_minute))} a minute`}
                    {progress.estimated_end !== null && ` · over ${describeDistance(progress.estimated_end)}`}
                    {progress.standstill && ` · ${progress.standstill.text}`}
                  </p>
                </>
              ) : (
                <p className="text-xs text-soft">Its numbers come with the next look; its own page has them now.</p>
              )}
            </li>
          ))}
        </ul>
      )}
    </Panel>
  )
}

function Senders({ dashboard: { senders } }: { readonly dashboard: Dashboard }) {
  return (
    <Panel title="Senders" flush>
      <ul className="divide-y">
        {senders.map(({ id, name, address, state, paused_reason: reason, held_until: until, today }) => (
          <li key={id} className="flex flex-col gap-1.5 px-4 py-3 text-sm">
            <div className="flex items-center justify-between gap-2">
              <Link to="/senders/$id" params={{ id }} className="min-w-0 truncate font-medium hover:underline">
                {name ?? address}
              </Link>
              <StatusBadge status={state} />
            </div>
            {reason !== null && <p className="text-xs break-words text-warn">{reason}</p>}
            {until !== null && (
              <p className="text-xs text-warn">
                Its server asked to slow down, until <Time at={until} />
              </p>
            )}
            {today.quota !== null && (
              <>
                <Progress
                  label={`Quota of ${address} on ${today.date}`}
                  total={today.quota}
                  parts={[
                    { label: 'sent', value: today.sent, className: 'bg-good' },
                    { label: 'booked', value: Math.max(today.booked - today.sent, 0), className: 'bg-calm/60' },
                  ]}
                />
                <p className="text-xs text-soft">
                  {showNumber(today.sent)} sent and {showNumber(Math.max(today.booked - today.sent, 0))} booked of{' '}
                  {showNumber(today.quota)} on {today.date}
                </p>
              </>
            )}
          </li>
        ))}
      </ul>
    </Panel>
  )
}
