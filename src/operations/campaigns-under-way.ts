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
/** Counting a large campaign takes a while. What is not read within this is read the next time, or by itself. */
const BUDGET_MS = 60
/** What took longer than this to read is not read again at once. */
const CHEAP_MS = 20
const REMEMBERED_MS = 5_000

interface Remembered {
  readonly at: number
  readonly progress: CampaignProgress
}

const remembered = new WeakMap<Context, Map<string, Remembered>>()

export async function readCampaignsUnderWay(context: Context, workspaceId: string): Promise<CampaignsUnderWay> {
  const found = await listCampaignsUnderWay(context.db, workspaceId, SHOWN + 1)
  const known = remembered.get(context) ?? new Map<string, Remembered>()
  remembered.set(context, known)
  const started = performance.now()
  for (const [id, { at }] of known) if (started - at > REMEMBERED_MS) known.delete(id)
  const shown = []
  for (const campaign of found.slice(0, SHOWN)) {
    const recent = known.get(campaign.id)
    // A campaign that was paused or resumed since is another one.
    const isCurrent = recent?.progress.campaign.updatedAt.getTime() === campaign.updatedAt.getTime()
    if (recent && isCurrent) {
      shown.push({ campaign, progress: recent.progress })
      continue
    }
    const from = performance.now()
    const late = from - started > BUDGET_MS
    const progress = late ? null : await readCampaignProgress(context, workspaceId, campaign.id)
    const at = performance.now()
    if (progress && at - from > CHEAP_MS) known.set(campaign.id, { at, progress })
    shown.push({ campaign, progress })
  }
  return { shown, more: found.length > SHOWN }
}
