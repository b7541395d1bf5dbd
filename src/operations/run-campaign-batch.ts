import { countReadyEmails, type Tally, tallyEmails } from '../db/campaign-progress.js'
import { type Campaign, lockCampaign, setStatus } from '../db/campaigns.js'
import type { Sql } from '../db/client.js'
import { planCampaignBatch } from '../db/plan-campaign-batch.js'
import { sampleCampaign } from '../db/sample-campaign.js'
import { readNow } from '../db/sender-days.js'
import { findSender } from '../db/senders.js'
import { unbook } from '../db/unbook-sender-day.js'
import type { LeasedAction } from '../domain/action.js'
import { isSampleOld, moveSample, spaceByHour } from '../domain/campaign.js'
import type { Log } from '../log.js'
import { bookBulk } from './book-bulk.js'
import { runEnrollTurn } from './run-enroll-turn.js'

/**
 * One turn of a campaign: plans the next people of its list, or waits, or finds that all is over. It runs in the
 * transaction that completes its action, so a turn happens once or not at all; and there is one such action per
 * campaign, so a campaign never has two turns at once.
 *
 * Returns in how many milliseconds its next turn should come; null when the campaign is over.
 */
export interface BatchOptions {
  readonly log: Log
  /** How many batches of a campaign may be due and unsent: enough that workers never wait for planning, and no more. */
  readonly batchesAhead: number
  readonly random: () => number
}

/**
 * A turn costs as much as planning a hundred people before it plans anybody, so small batches are planned several at once;
 * up to so many, because others wait for the database meanwhile.
 */
const MOST_IN_A_TURN = 2_000
/** A campaign that somebody paused while its turn began: its lane is held, so the next turn comes when it is resumed. */
const PAUSED_WAIT_MS = 1_000
const SHORTEST_WAIT_MS = 20
const LONGEST_WAIT_MS = 250
/** All that is left are retries, which may take hours. */
const RETRIES_WAIT_MS = 2_000
/** Settings of a sender may change meanwhile: look again now and then. */
const LONGEST_CLOSED_MS = 60_000

export async function runCampaignBatch(
  tx: Sql,
  { workspaceId, laneId }: Pick<LeasedAction, 'workspaceId' | 'laneId'>,
  options: BatchOptions,
): Promise<number | null> {
  const found = await lockCampaign(tx, workspaceId, laneId)
  if (!found || found.status === 'canceled' || found.status === 'sent' || found.status === 'draft') return null
  if (found.status === 'paused') return PAUSED_WAIT_MS
  const campaign = found.status === 'scheduled' ? await setStatus(tx, found, 'running') : found
  // Of a sequence: when everybody is enrolled, what is left to do are their walks.
  if (campaign.sequenceId !== null) return (await runEnrollTurn(tx, campaign, options)) ? 0 : null
  return campaign.plannedAt ? finish(tx, campaign, options) : plan(tx, campaign, options)
}

async function plan(tx: Sql, campaign: Campaign, { log, batchesAhead }: BatchOptions): Promise<number> {
  const { id, batchSize } = campaign
  const room = Number.isFinite(batchesAhead)
    ? batchesAhead * batchSize - (await countReadyEmails(tx, id))
    : Number.POSITIVE_INFINITY
  if (room <= 0) return untilSent(tx, campaign, batchSize - room)
  const hourly = campaign.hourlyLimit === null ? null : spaceByHour(campaign.hourlyLimit, batchSize)
  if (hourly && campaign.lastBatchAt) {
    const sinceMs = (await readNow(tx)).getTime() - campaign.lastBatchAt.getTime()
    if (sinceMs < hourly.everyMs) return hourly.everyMs - sinceMs
  }
  const wanted = hourly?.size ?? sizeOfTurn(campaign, room)
  const sender = campaign.followPace ? await findSender(tx, campaign.workspaceId, campaign.senderId) : null
  const booking = sender ? await bookBulk(tx, sender, wanted) : { kind: 'open' as const, granted: wanted, day: null }
  if (booking.kind === 'closed') {
    const waitMs = booking.until.getTime() - (await readNow(tx)).getTime()
    return Math.min(Math.max(waitMs, SHORTEST_WAIT_MS), LONGEST_CLOSED_MS)
  }
  const { granted, day } = booking
  const { at, ...batch } = await planCampaignBatch(tx, campaign, { size: granted, bookedOn: day })
  if (sender && day !== null && batch.planned < granted) await unbook(tx, sender.id, day, granted - batch.planned)
  log.info({ campaign: id, ...batch }, 'batch planned')
  await sample(tx, { ...campaign, planned: campaign.planned + batch.planned }, at)
  return 0
}

/** A batch, so that the first emails go out soon; from then on as many of them as there is room for. */
const sizeOfTurn = ({ batchSize, lastBatchAt }: Campaign, room: number): number =>
  lastBatchAt === null ? batchSize : Math.max(batchSize, Math.min(room, MOST_IN_A_TURN))

/** Planned to the end: the campaign is over when nothing of it is under way any more. */
async function finish(tx: Sql, campaign: Campaign, { log }: BatchOptions): Promise<number | null> {
  const tally = await tallyEmails(tx, campaign)
  if (tally.live > 0) {
    await sample(tx, campaign, await readNow(tx), tally)
    return tally.ready > 0 ? untilSent(tx, campaign, tally.live) : RETRIES_WAIT_MS
  }
  await setStatus(tx, campaign, 'sent')
  log.info({ campaign: campaign.id, planned: campaign.planned, sent: tally.sent }, 'campaign sent')
  return null
}

/** About how long it takes until so many more have gone out, by the rate of late. */
async function untilSent(tx: Sql, { sampledAt, sampledSent, planned, startedAt }: Campaign, count: number) {
  const now = await readNow(tx)
  const sinceMs = now.getTime() - (sampledAt ?? startedAt ?? now).getTime()
  const perMs = sinceMs > 0 ? (planned - count - sampledSent) / sinceMs : 0
  const waitMs = perMs > 0 ? count / perMs / 2 : LONGEST_WAIT_MS
  return Math.min(Math.max(waitMs, SHORTEST_WAIT_MS), LONGEST_WAIT_MS)
}

async function sample(tx: Sql, campaign: Campaign, at: Date, tally?: Tally): Promise<void> {
  const last = campaign.sampledAt && { at: campaign.sampledAt, sent: campaign.sampledSent }
  if (!isSampleOld(last, at)) return
  const { sent } = tally ?? (await tallyEmails(tx, campaign))
  await sampleCampaign(tx, campaign, moveSample(last, { at, sent }))
}
