import { type Campaign, listCampaignsUnderWay } from '../db/campaigns.js'
import { inTime } from '../in-time.js'
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
/** The one that is being read then is waited for until this. It is read to its end, for whoever looks next. */
const PATIENCE_MS = 100
/** What took longer than this to read is not read again at once. */
const CHEAP_MS = 20
const REMEMBERED_MS = 5_000

interface Remembered {
  readonly at: number
  readonly tookMs: number
  readonly progress: CampaignProgress
}

/** What is known of the campaigns of a workspace, and who is being read right now. */
interface Known {
  readonly remembered: Map<string, Remembered>
  readonly reading: Map<string, Promise<void>>
}

const workspaces = new WeakMap<Context, Map<string, Known>>()

function knownOf(context: Context, workspaceId: string): Known {
  const ofContext = workspaces.get(context) ?? new Map<string, Known>()
  workspaces.set(context, ofContext)
  const known = ofContext.get(workspaceId) ?? { remembered: new Map(), reading: new Map() }
  ofContext.set(workspaceId, known)
  return known
}

export async function readCampaignsUnderWay(
  context: Context,
  workspaceId: string,
  { budgetMs = BUDGET_MS, patienceMs = PATIENCE_MS } = {},
): Promise<CampaignsUnderWay> {
  const started = performance.now()
  const found = await listCampaignsUnderWay(context.db, workspaceId, SHOWN + 1)
  const campaigns = found.slice(0, SHOWN)
  const { remembered, reading } = knownOf(context, workspaceId)
  const updatedAt = new Map(campaigns.map((campaign) => [campaign.id, campaign.updatedAt.getTime()]))
  for (const [id, { progress }] of remembered)
    // A campaign that was paused or resumed since is another one.
    if (progress.campaign.updatedAt.getTime() !== updatedAt.get(id)) remembered.delete(id)

  const readAt = ({ id }: Campaign) => remembered.get(id)?.at ?? Number.NEGATIVE_INFINITY
  const isFresh = ({ at, tookMs }: Remembered) => tookMs > CHEAP_MS && started - at < REMEMBERED_MS
  const stale = campaigns.filter(({ id }) => !remembered.has(id) || !isFresh(remembered.get(id)!))
  const read = async (id: string) => {
    const from = performance.now()
    const progress = await readCampaignProgress(context, workspaceId, id)
    const at = performance.now()
    remembered.set(id, { at, tookMs: at - from, progress })
  }
  for (const { id } of stale.toSorted((a, b) => readAt(a) - readAt(b))) {
    const underWay = reading.get(id) ?? read(id).finally(() => reading.delete(id))
    reading.set(id, underWay)
    if (!(await inTime(underWay, started + patienceMs - performance.now()))) break
    if (performance.now() - started > budgetMs) break
  }
  return {
    shown: campaigns.map((campaign) => ({ campaign, progress: remembered.get(campaign.id)?.progress ?? null })),
    more: found.length > SHOWN,
  }
}
