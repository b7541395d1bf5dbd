import type { Handlers, Postrider, PostriderOptions } from '../../src/index.js'
import type { Place } from '../delivery/open-postrider.js'
import { openForCampaigns } from './campaign-ground.js'

/**
 * `null`: emails are armed and done, and nothing is rendered; what remains is planning, claiming and writing down.
 * `capture`: the dev inbox keeps each of them, rendered, in the database.
 */
export const PROVIDERS = ['null', 'capture'] as const
export type ProviderName = (typeof PROVIDERS)[number]

const NOTHING: Handlers = {
  send: {
    kind: 'hand-over',
    retryPolicy: 'standard',
    handOver: async (_, grip) => ((await grip.arm()) ? { kind: 'done' } : { kind: 'release' }),
  },
}

/** Of a provider that answers at once more would only make them come in larger groups. */
const CONCURRENCY = 100

export const openWithProvider = (
  place: Place,
  provider: ProviderName,
  options: PostriderOptions = {},
): Promise<Postrider> =>
  openForCampaigns(place, { concurrency: CONCURRENCY, ...(provider === 'null' && { handlers: NOTHING }), ...options })
