import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { StatusBadge } from '../../ui/badge'
import { Figure, PageHead, Panel } from '../../ui/panel'
import { ProblemNote } from '../../ui/problem-note'
import { Loading } from '../../ui/spinner'
import { describeDistance, formatDuration, Time } from '../../ui/time'
import { CampaignActions } from './campaign-actions'
import { CountsBar, CountsTable, overOf } from './campaign-counts'
import { CampaignFacts } from './campaign-facts'
import { CampaignPreview } from './campaign-preview'
import { type Campaign, campaignQuery, type Progress, progressQuery } from './campaign-queries'
import { FailuresPanel } from './failures-panel'
import { LookAheadPanel } from './look-ahead'
import { PeoplePanel } from './people-panel'
import { PreflightPanel } from './preflight-panel'
import { StandstillNote } from './standstill'
import { showNumber } from '../../ui/number'

export function CampaignDetail() {
  const { id } = useParams({ strict: false }) as { id: string }
  const campaign = useQuery(campaignQuery(id))
  const progress = useQuery(progressQuery(id))
  const failed = [campaign, progress].find(({ isError }) => isError)
  return (
    <>
      {failed && (
        <div className="mb-4">
          <ProblemNote error={failed.error} retry={() => void failed.refetch()} />
        </div>
      )}
      {campaign.data && progress.data ? (
        <Shown campaign={campaign.data} progress={progress.data} />
      ) : (
        !failed && <Loading />
      )}
    </>
  )
}

function Shown({ campaign, progress }: { readonly campaign: Campaign; readonly progress: Progress }) {
  const { counts } = progress
  const isDraft = campaign.status === 'draft'
  return (
    <>
      <PageHead
        title={campaign.name}
        lead={
          <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
            <StatusBadge status={campaign.status} />
            <span>{campaign.sequence_id === null ? 'One email to a list' : 'A sequence'}</span>
            {!isDraft && (
              <Link to="/email-queue" search={{ campaign_id: campaign.id } as never} className="underline">
                Its emails
              </Link>
            )}
          </span>
        }
        actions={<CampaignActions campaign={campaign} progress={progress} />}
      />
      <StandstillNote campaign={campaign} progress={progress} />
      {!isDraft && <ProgressPart campaign={campaign} progress={progress} />}
      <div className="grid items-start gap-5 lg:grid-cols-2">
        <div className="flex min-w-0 flex-col gap-5">
          {isDraft && <PreflightPanel campaign={campaign} />}
          {!isDraft && (
            <Panel title={campaign.sequence_id === null ? 'Everybody on the list' : 'Its emails'}>
              <CountsTable
                campaignId={campaign.id}
                counts={counts}
                over={campaign.finished_at !== null}
                unit={campaign.sequence_id === null ? 'people' : 'emails'}
              />
            </Panel>
          )}
          {counts.failed > 0 && <FailuresPanel campaign={campaign} progress={progress} />}
          {progress.people && !isDraft && <PeoplePanel campaign={campaign} people={progress.people} />}
          <CampaignFacts campaign={campaign} />
          {campaign.status !== 'sent' && campaign.status !== 'canceled' && <LookAheadPanel campaign={campaign} />}
        </div>
        <CampaignPreview campaign={campaign} />
      </div>
    </>
  )
}

function ProgressPart({ campaign, progress }: { readonly campaign: Campaign; readonly progress: Progress }) {
  const { counts, rate_per_minute: rate, estimated_end: end, last_error: lastError } = progress
  const over = overOf(counts)
  const share = counts.audience === 0 ? 0 : Math.floor((100 * over) / counts.audience)
  const unit = campaign.sequence_id === null ? 'people' : 'planned emails'
  return (
    <section aria-label="Progress" className="mb-5 flex flex-col gap-4">
      <div className="flex flex-col gap-2">
        <CountsBar counts={counts} label={`Progress of ${campaign.name}`} />
        <p className="text-sm text-soft" data-testid="progress-words">
          {showNumber(over)} of {showNumber(counts.audience)} {unit} ({share} %)
        </p>
      </div>
      <div className="grid grid-cols-2 gap-3 lg:grid-cols-4">
        <Figure label="Sent" value={showNumber(counts.sent)} hint="accepted by the next mail server" />
        <Figure
          label="Failed"
          value={showNumber(counts.failed)}
          {...(counts.failed > 0 && { mood: 'bad' as const })}
          hint={counts.uncertain > 0 ? `and ${showNumber(counts.uncertain)} uncertain` : 'refused for good'}
        />
        {campaign.finished_at === null || campaign.started_at === null ? (
          <Figure
            label="Rate"
            value={rate === null ? '—' : showNumber(Math.round(rate))}
            hint={rate === null ? (campaign.sequence_id === null ? 'not moving' : 'goes by its times') : 'a minute'}
          />
        ) : (
          <Figure
            label="Took"
            value={formatDuration((Date.parse(campaign.finished_at) - Date.parse(campaign.started_at)) / 1_000)}
            hint="from its start to its end"
          />
        )}
        {campaign.finished_at === null ? (
          <Figure
            label="Estimated end"
            value={end === null ? '—' : describeDistance(end)}
            hint={end === null ? rate === null ? 'no rate to tell from' : 'not while it waits' : <Time at={end} />}
          />
        ) : (
          <Figure
            label="Ended"
            value={<Time at={campaign.finished_at} />}
            hint={describeDistance(campaign.finished_at)}
          />
        )}
      </div>
      {lastError && (
        <p className="text-sm text-soft">
          Last error, <Time at={lastError.at} />:{' '}
          <span className="font-mono text-xs break-words text-ink">{lastError.text}</span>
        </p>
      )}
    </section>
  )
}
