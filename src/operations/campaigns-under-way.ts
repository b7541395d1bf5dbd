import { type Campaign, listCampaignsUnderWay } from '../db/campaigns.js'
import type { Context } from './context.js'
import { type CampaignProgress, readCampaignProgress } from './read-campaign.js'

/** The newest campaigns that were launched and are not over, each with its progress as far as there was time to read it. */
export interface CampaignsUnderWay {
  readonly shown: readonly { readonly campaign: Campaign; readonly progress: CampaignProgress | null }[]
  /** There are others that are not shown. */
  readonly more: boolean
}

const SHOWN = 10
/**
 * Counting a large campaign takes a while. What is not read within this is shown as it was when it was last read, and is
 * the first to be read the next time: a campaign that stands still must not go unnoticed because others are large.
 */
const BUDGET_MS = 60
/** What took longer than this to read is not read again at once. */
const CHEAP_MS = 20
const REMEMBERED_MS = 5_000

interface Remembered {
  readonly at: number
  readonly tookMs: number
  readonly progress: CampaignProgress
}

/** By workspace and campaign. */
const remembered = new WeakMap<Context, Map<string, Map<string, Remembered>>>()

export async function readCampaignsUnderWay(
  context: Context,
  workspaceId: string,
  budgetMs = BUDGET_MS,
): Promise<CampaignsUnderWay> {
  const found = await listCampaignsUnderWay(context.db, workspaceId, SHOWN + 1)
  const campaigns = found.slice(0, SHOWN)
  const workspaces = remembered.get(context) ?? new Map<string, Map<string, Remembered>>()
  const known = workspaces.get(workspaceId)
  const kept = new Map<string, Remembered>()
  for (const { id, updatedAt } of campaigns) {
    const last = known?.get(id)
    // A campaign that was paused or resumed since is another one.
    if (last?.progress.campaign.updatedAt.getTime() === updatedAt.getTime()) kept.set(id, last)
  }
  remembered.set(context, workspaces.set(workspaceId, kept))
  const started = performance.now()
  const readAt = ({ id }: Campaign) => kept.get(id)?.at ?? Number.NEGATIVE_INFINITY
  const isFresh = ({ at, tookMs }: Remembered) => tookMs > CHEAP_MS && started - at < REMEMBERED_MS
  const stale = campaigns.filter(({ id }) => !kept.has(id) || !isFresh(kept.get(id)!))
  for (const { id } of stale.toSorted((a, b) => readAt(a) - readAt(b))) {
    const from = performance.now()
    const progress = await readCampaignProgress(context, workspaceId, id)
    const at = performance.now()
    if (progress) kept.set(id, { at, tookMs: at - from, progress })
    if (at - started > budgetMs) break
  }
  return {
    shown: campaigns.map((campaign) => ({ campaign, progress: kept.get(campaign.id)?.progress ?? null })),
    more: found.length > SHOWN,
  }
}
