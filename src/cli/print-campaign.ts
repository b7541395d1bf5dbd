import type { Campaign } from '../db/campaigns.js'
import type { Sql } from '../db/client.js'
import type { CampaignCounts } from '../domain/campaign.js'
import { showCampaign, toProgress } from '../http/campaign-json.js'
import { showId } from '../id.js'
import type { Preflight } from '../operations/preflight-campaign.js'
import type { CampaignPeople, CampaignProgress } from '../operations/read-campaign.js'
import { print, printJson } from './print.js'
import { oneLine, wrap } from './safe-text.js'
import { terminalWidth } from './table.js'

/** What a campaign is doing, for people. Counts of nobody are left out; the rest add up to the first. */
export function describeCampaign(progress: CampaignProgress): string {
  const { campaign, counts, people, ratePerMinute, estimatedEnd, lastError, standstill } = progress
  const facts: Fact[] = [
    ['status', campaign.status],
    ['scheduled', written(campaign.scheduledAt)],
    ['started', written(campaign.startedAt)],
    ['finished', written(campaign.finishedAt)],
    ...(people ? ([['people', String(sumOf(people))], ...countsOf(people, PEOPLE)] satisfies Fact[]) : []),
    [people ? 'emails' : 'audience', String(counts.audience)],
    ...countsOf(counts, COUNTED),
    ['rate', ratePerMinute === null ? null : `${Math.round(ratePerMinute)} a minute`],
    ['ends', estimatedEnd && `about ${written(estimatedEnd)}`],
    ['last error', lastError && `${written(lastError.at)} ${lastError.text}`],
    ['stands still', standstill && `${standstill.text} (${standstill.code})`],
  ]
  const lines = facts
    .filter((fact): fact is [string, string] => fact[1] !== null)
    .map(([name, value]) => `  ${name.padEnd(LABEL)}  ${oneLine(value)}`)
  return [titleOf(campaign), ...lines].map((line) => wrap(line, terminalWidth(), INDENT)).join('\n')
}

type Fact = [name: string, value: string | null]

const countsOf = <Name extends string>(
  counts: Readonly<Record<Name, number>>,
  labels: readonly (readonly [Name, string])[],
): Fact[] => labels.map(([name, label]) => [`  ${label}`, counts[name] === 0 ? null : String(counts[name])])

const sumOf = (people: CampaignPeople) => PEOPLE.reduce((sum, [name]) => sum + people[name], 0)

const PEOPLE = [
  ['active', 'active'],
  ['paused', 'paused'],
  ['completed', 'completed'],
  ['stopped', 'stopped'],
  ['notEnrolled', 'not enrolled'],
  ['unsubscribed', 'unsubscribed'],
  ['suppressed', 'suppressed'],
  ['enrolledBefore', 'there before'],
] as const satisfies [keyof CampaignPeople, string][]

const COUNTED = [
  ['sent', 'sent'],
  ['sending', 'sending'],
  ['scheduled', 'scheduled'],
  ['retryScheduled', 'to be retried'],
  ['notPlanned', 'not planned'],
  ['failed', 'failed'],
  ['uncertain', 'uncertain'],
  ['unsubscribed', 'unsubscribed'],
  ['suppressed', 'suppressed'],
  ['removed', 'removed'],
  ['canceled', 'canceled'],
  ['expired', 'expired'],
  ['dismissed', 'dismissed'],
] as const satisfies [keyof CampaignCounts, string][]

const LABEL = '  to be retried'.length
const INDENT = ' '.repeat(LABEL + 4)

const titleOf = ({ id, name }: Campaign) => `${showId('cmp', id)} ${oneLine(name)}`
const written = (instant: Date | null) => instant && instant.toISOString()

export async function printProgress(
  sql: Sql,
  progress: CampaignProgress,
  { json }: { readonly json?: true },
): Promise<void> {
  if (json) printJson({ ...(await showCampaign(sql, progress.campaign)), progress: toProgress(progress) })
  else print(describeCampaign(progress))
}

/** After it was changed. */
export async function printCampaign(sql: Sql, campaign: Campaign, { json }: { readonly json?: true }): Promise<void> {
  if (json) printJson(await showCampaign(sql, campaign))
  else print(`${titleOf(campaign)}: ${campaign.status}`)
}

/** Every check and what it found. With an error, the command has failed. */
export function printPreflight(
  { ok, checks }: Preflight,
  flags: { readonly json?: true; readonly dryRun?: true },
): void {
  if (flags.json) printJson({ object: 'preflight', ok, checks, ...(flags.dryRun && { dry_run: true }) })
  else
    print(
      [
        ...checks.map(({ check, level, detail }) =>
          wrap(`${level.padEnd(7)}  ${check.padEnd(11)}  ${oneLine(detail)}`, terminalWidth(), ' '.repeat(22)),
        ),
        ok ? 'It can be launched.' : 'It cannot be launched as it is.',
      ].join('\n'),
    )
  if (!ok) process.exitCode = 1
}
