import { type Attention, readAttention } from '../db/attention.js'
import { countUntoldFailures } from '../db/count-untold-failures.js'
import { countEmails, type EmailCounts } from '../db/count-emails.js'
import { findFailedImports } from '../db/imports.js'
import { readSchemaStatus } from '../db/migrate.js'
import { readScheduleLag, type ScheduleLag } from '../db/schedule-lag.js'
import { countUpcoming } from '../db/upcoming-emails.js'
import { type AttentionItem, listAttention } from '../domain/attention.js'
import { type CampaignsUnderWay, readCampaignsUnderWay } from './campaigns-under-way.js'
import type { Context } from './context.js'
import { readSenderHealth, type SenderHealth } from './sender-health.js'

/** All that somebody wants to see first. Bounded: it takes the same with a thousand emails and with a million. */
export interface Overview {
  readonly counts: EmailCounts
  readonly failed: number
  readonly uncertain: number
  /** Both are at least this many. */
  readonly attentionCapped: boolean
  readonly nextHour: number
  readonly nextHourEstimated: boolean
  readonly lag: ScheduleLag | null
  readonly senders: readonly SenderHealth[]
  readonly campaigns: CampaignsUnderWay
  readonly attention: readonly AttentionItem[]
}

const HOUR_SECONDS = 3_600

/** `brokerDown` is the broker that is set and does not answer. */
export async function readOverview(
  context: Context,
  workspaceId: string,
  brokerDown: string | null = null,
): Promise<Overview> {
  const { db } = context
  const asked = Date.now()
  const counts = await countEmails(db, workspaceId)
  // The statement's own time lies between the two; how long it took is no skew.
  const clockSkewMs = Math.max(0, asked - counts.clock.getTime(), counts.clock.getTime() - Date.now())
  const [[next], attention, lag, senders, campaigns, failedImports, untoldFailures, schema] = await Promise.all([
    countUpcoming(db, workspaceId, { from: counts.now, count: 1, seconds: HOUR_SECONDS }),
    readAttention(db, workspaceId),
    readScheduleLag(db, workspaceId),
    readSenderHealth(db, workspaceId, counts.now),
    readCampaignsUnderWay(context, workspaceId),
    findFailedImports(db, workspaceId),
    countUntoldFailures(db),
    findSchemaTrouble(context),
  ])
  return {
    counts,
    failed: countOf(attention, 'failed'),
    uncertain: countOf(attention, 'uncertain'),
    attentionCapped: attention.capped,
    nextHour: next!.emails,
    nextHourEstimated: next!.estimated,
    lag,
    senders,
    campaigns,
    attention: listAttention({
      ...counts,
      ...attention,
      senders: senders.map(({ sender }) => sender),
      campaigns: campaigns.shown.map(({ campaign, progress }) => ({
        ...campaign,
        standstill: progress?.standstill ?? null,
      })),
      failedImports,
      untoldFailures,
      clockSkewMs,
      schema,
      brokerDown,
    }),
  }
}

const countOf = ({ groups }: Attention, state: 'failed' | 'uncertain') =>
  groups.filter((group) => group.isEmail && group.state === state).reduce((sum, { count }) => sum + count, 0)

/** Somebody may migrate while this runs; nobody does every second. */
const SCHEMA_MS = 60_000
const schemas = new WeakMap<Context, { readonly at: number; readonly trouble: Promise<string | null> }>()

function findSchemaTrouble(context: Context): Promise<string | null> {
  const known = schemas.get(context)
  if (known && performance.now() - known.at < SCHEMA_MS) return known.trouble
  const trouble = describeSchema(context)
  schemas.set(context, { at: performance.now(), trouble })
  trouble.catch(() => schemas.delete(context))
  return trouble
}

async function describeSchema({ db }: Context): Promise<string | null> {
  const status = await readSchemaStatus(db)
  switch (status.kind) {
    case 'current':
      return null
    case 'outdated':
      return `The database schema misses ${status.missing.join(', ')}. Run "postrider migrate".`
    case 'newer':
      return `The database has ${status.unknown.join(', ')}, which this version of Postrider does not know. Run the newer one that made it.`
    case 'edited':
      return `${status.names.join(', ')} were applied in another form. Restore the migrations as they were shipped.`
  }
}
