import type { CampaignCounts } from '../domain/campaign.js'
import { isId } from '../id.js'
import { type Campaign, CAMPAIGN_COLUMNS } from './campaigns.js'
import type { Sql } from './client.js'
import { DUE_HINTS } from './due-hints.js'

/**
 * How far a campaign is, in one statement and so at one instant. It reads what waits, what is held, what needs attention
 * and what ended unsent, each by an index of the lane, and never what has gone out: of a million emails that is what is
 * left of those that were planned.
 */
export interface Progress {
  readonly campaign: Campaign
  readonly counts: CampaignCounts
  /** When the earliest of what waits is due. */
  readonly nextAt: Date | null
  readonly lastError: { readonly at: Date; readonly code: string | null; readonly text: string } | null
  readonly lane: { readonly paused: boolean; readonly heldUntil: Date | null }
  /** The campaign's batch action. */
  readonly batch: { readonly state: string; readonly runAt: Date; readonly reason: string | null } | null
  readonly now: Date
}

/**
 * Emails of the lane that are not over. Each is in exactly one of these places, by the kernel's invariants. What waits for
 * its time may be all that was ever planned: it is counted from its indexes, and none of it is read.
 */
const WAITING = `from postrider.scheduled_actions where lane_id = $1 and wake_at is not null and message_id is not null`
const RETRYING = `from postrider.scheduled_actions where lane_id = $1 and retrying and message_id is not null`
const FIRST_WAITING = `from postrider.scheduled_actions
    where lane_id = $1 and wake_at is not null and contact_id is not null order by wake_at limit 1`
const READY = `
    select id, state, reason_code, run_at from postrider.scheduled_actions
    where id = any (array(select unnest(action_ids) from ${DUE_HINTS} hint where lane_id = $1))
      and state = 'pending' and wake_at is null and type = 'send'
    union all
    select id, state, reason_code, run_at from postrider.scheduled_actions
    where id = any (array(select unnest(action_ids) from postrider.leases))
      and lane_id = $1 and state in ('leased', 'armed') and type = 'send'`

/** How many emails of a campaign are due or being sent: what its batch looks at before it plans more. */
export async function countReadyEmails(sql: Sql, campaignId: string): Promise<number> {
  const { rows } = await sql.query<{ count: number }>(`select count(*)::int as count from (${READY}) ready`, [
    campaignId,
  ])
  return rows[0]!.count
}

export interface Tally {
  /** Planned and not over. */
  readonly live: number
  /** Of those, due or being sent. */
  readonly ready: number
  readonly sent: number
}

/** For the batch, which holds the campaign: nobody plans meanwhile. */
export async function tallyEmails(tx: Sql, { id, planned }: Campaign): Promise<Tally> {
  const { rows } = await tx.query<{ waiting: number; ready: number; over: number }>(
    `select (select count(*)::int ${WAITING}) as waiting,
       (select count(*)::int from (${READY}) ready) as ready,
       (select count(*)::int from postrider.scheduled_actions
        where lane_id = $1 and needs_attention and type = 'send') +
       (select count(*)::int from postrider.scheduled_actions
        where lane_id = $1 and ended_unsent and type = 'send') as over`,
    [id],
  )
  const { waiting, ready, over } = rows[0]!
  const live = waiting + ready
  return { live, ready, sent: planned - live - over }
}

const FIRST_CONTACT = '00000000-0000-0000-0000-000000000000'

const read = (now: string) => `
  with campaign as materialized (
    select ${CAMPAIGN_COLUMNS} from postrider.campaigns where id = $1 and workspace_id = $2
  ), ready as materialized (${READY}
  ), retrying as materialized (select count(*)::int as count ${RETRYING}
  ), attention as materialized (
    select state, reason, reason_code, state_at from postrider.scheduled_actions
    where lane_id = $1 and needs_attention and type = 'send'
  ), unsent as materialized (
    select state, reason_code, count(*)::int as count from postrider.scheduled_actions
    where lane_id = $1 and ended_unsent and type = 'send' group by state, reason_code
  ), failing as (
    select state_at as at, reason_code as code, reason as text from attention
    union all
    (select state_at, reason_code, reason ${RETRYING} and reason is not null order by state_at desc limit 1)
    order by at desc limit 1
  )
  select row_to_json(campaign) as campaign,
    case when "plannedAt" is not null or "sequenceId" is not null then 0 else (
      select count(*)::int from postrider.list_members
      where list_id = "listId" and contact_id > coalesce("lastCursor", '${FIRST_CONTACT}')) end as "notPlanned",
    case when "sequenceId" is not null then (
      select count(*)::int from postrider.scheduled_actions where lane_id = $1 and type = 'send') end as emails,
    (select count(*)::int ${WAITING}) - (select count from retrying)
      + (select count(*)::int from ready where state = 'pending' and reason_code is null) as scheduled,
    (select count from retrying)
      + (select count(*)::int from ready where state = 'pending' and reason_code is not null) as "retryScheduled",
    (select count(*)::int from ready where state <> 'pending') as sending,
    (select count(*)::int from attention where state = 'failed') as failed,
    (select count(*)::int from attention where state = 'uncertain') as uncertain,
    (select coalesce(json_agg(unsent), '[]') from unsent) as unsent,
    least((select min(run_at) from ready where state = 'pending'), (select run_at ${FIRST_WAITING})) as "nextAt",
    (select row_to_json(failing) from failing) as "lastError",
    (select json_build_object('paused', lanes.paused_at is not null,
       'heldUntil', greatest(lanes.held_until, holder.held_until))
     from postrider.lanes left join postrider.lanes holder on holder.id = lanes.held_with where lanes.id = $1) as lane,
    (select json_build_object('state', state, 'runAt', run_at, 'reason', reason) from postrider.scheduled_actions
     where workspace_id = $2 and dedupe_key = 'campaign-batch:' || $1::uuid) as batch,
    ${now} as now
  from campaign`

interface Row extends Omit<Progress, 'campaign' | 'counts' | 'lastError' | 'lane' | 'batch'> {
  campaign: { readonly [Key in keyof Campaign]: Campaign[Key] extends Date | null ? string | null : Campaign[Key] }
  notPlanned: number
  /** Of a sequence: all that were ever planned. */
  emails: number | null
  scheduled: number
  retryScheduled: number
  sending: number
  failed: number
  uncertain: number
  unsent: { state: string; reason_code: string | null; count: number }[]
  lastError: { at: string; code: string | null; text: string | null } | null
  lane: { paused: boolean; heldUntil: string | null } | null
  batch: { state: string; runAt: string; reason: string | null } | null
}

export async function readProgress(sql: Sql, workspaceId: string, id: string): Promise<Progress | null> {
  if (!isId(id)) return null
  const { rows } = await sql.query<Row>(read(sql.now), [id, workspaceId])
  const row = rows[0]
  if (!row) return null
  const campaign = withDates(row.campaign)
  return {
    campaign,
    counts: toCounts(row, campaign),
    nextAt: row.nextAt,
    lastError: row.lastError && { ...row.lastError, at: new Date(row.lastError.at), text: row.lastError.text ?? '' },
    lane: { paused: row.lane?.paused ?? false, heldUntil: row.lane?.heldUntil ? new Date(row.lane.heldUntil) : null },
    batch: row.batch && { ...row.batch, runAt: new Date(row.batch.runAt) },
    now: row.now,
  }
}

const INSTANT = /At$/

/** Inside JSON instants are text. */
const withDates = (row: Row['campaign']): Campaign =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      INSTANT.test(name) && typeof value === 'string' ? new Date(value) : value,
    ]),
  ) as unknown as Campaign

/** Of a sequence they count emails, and who got none is counted with the enrollments. */
function toCounts(row: Row, campaign: Campaign): CampaignCounts {
  const emails = row.emails ?? campaign.planned
  const { unsubscribed, suppressed } = row.emails === null ? campaign : { unsubscribed: 0, suppressed: 0 }
  const ended = (state: string, matches: (code: string | null) => boolean = () => true) =>
    row.unsent
      .filter((group) => group.state === state && matches(group.reason_code))
      .reduce((sum, { count }) => sum + count, 0)
  const { notPlanned, scheduled, retryScheduled, sending, failed, uncertain } = row
  const unsubscribedLater = ended('skipped', (code) => code === 'unsubscribed')
  const removed = ended('skipped', (code) => code === 'contact_removed')
  const rest = {
    scheduled,
    retryScheduled,
    sending,
    failed,
    uncertain,
    removed,
    canceled: ended('canceled'),
    expired: ended('expired'),
    dismissed: ended('dismissed'),
  }
  const skippedLater = ended('skipped') - unsubscribedLater - removed
  const notSent = Object.values(rest).reduce((sum, count) => sum + count, unsubscribedLater + skippedLater)
  return {
    ...rest,
    audience: notPlanned + emails + unsubscribed + suppressed,
    notPlanned,
    sent: emails - notSent,
    unsubscribed: unsubscribed + unsubscribedLater,
    suppressed: suppressed + skippedLater,
  }
}
