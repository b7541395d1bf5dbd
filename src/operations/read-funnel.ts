import { countPlaces, countPlacesByEmail, countSentByNode } from '../db/campaign-funnel.js'
import { findSequence, findSequenceVersion } from '../db/sequences.js'
import { PostriderError } from '../errors.js'
import { getCampaign } from './campaigns.js'
import type { Context } from './context.js'

/** Where the people of a campaign are in its sequence. */
export interface Funnel {
  readonly sequenceId: string
  readonly version: number
  readonly nodes: readonly FunnelNode[]
  /** Have nothing before them but the end. */
  readonly ending: number
  readonly completed: number
  /** Wherever they were. */
  readonly stopped: number
}

export interface FunnelNode {
  readonly node: string
  readonly type: string
  /** Have come to it and wait there. */
  readonly here: number
  /** It comes next for them; with too many people to count their emails, those in between are passed over. */
  readonly coming: number
  readonly paused: number
  readonly stopped: number
  /** Emails of this node that went out; null where there are too many people to count them. */
  readonly sent: number | null
}

/** Beyond that many people, reading all of their emails takes too long for somebody who waits for a page. */
const MOST_COUNTED = 20_000

export async function readFunnel(context: Context, workspaceId: string, campaignId: string): Promise<Funnel> {
  const campaign = await getCampaign(context, workspaceId, campaignId)
  if (campaign.sequenceId === null)
    throw new PostriderError('campaign_not_ready', 'This campaign has no sequence: everybody gets one email.')
  const { db } = context
  const roughly = await countPlaces(db, campaign.id)
  const isCountable = roughly.reduce((sum, place) => sum + place.people, 0) <= MOST_COUNTED
  const places = isCountable ? await countPlacesByEmail(db, campaign.id) : roughly
  const sent = isCountable ? await countSentByNode(db, campaign.id) : null
  const { sequenceId, sequenceVersion } = campaign
  // Until it is launched, what it would be launched with.
  const version =
    sequenceVersion === null
      ? await findSequence(db, workspaceId, sequenceId)
      : await findSequenceVersion(db, workspaceId, sequenceId, sequenceVersion)
  if (!version) throw new PostriderError('sequence_not_found', 'Its sequence is gone.')
  const count = (wanted: (place: (typeof places)[number]) => boolean) =>
    places.filter(wanted).reduce((sum, place) => sum + place.people, 0)
  const nodes = version.graph.nodes.map(({ id, type }) => ({
    node: id,
    type,
    here: count(({ node, state, arrived }) => node === id && state === 'active' && arrived),
    coming: count(({ node, state, arrived }) => node === id && state === 'active' && !arrived),
    paused: count(({ node, state }) => node === id && state === 'paused'),
    stopped: count(({ node, state }) => node === id && state === 'stopped'),
    sent: type === 'send' && sent ? (sent.get(id) ?? 0) : null,
  }))
  return {
    sequenceId,
    version: version.version,
    nodes,
    ending: count(({ node, state }) => node === null && (state === 'active' || state === 'paused')),
    completed: count(({ state }) => state === 'completed'),
    stopped: count(({ state }) => state === 'stopped'),
  }
}
