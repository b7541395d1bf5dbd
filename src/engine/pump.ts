import { runCampaignBatch, type BatchOptions } from '../operations/run-campaign-batch.js'
import type { EffectHandler } from './handler.js'

/** Pumps a campaign's list into emails: the handler of `batch` actions, one of which each launched campaign has. */
export const createPump = (options: BatchOptions): EffectHandler => ({
  kind: 'effect',
  retryPolicy: 'standard',
  async apply(action, tx) {
    const waitMs = await runCampaignBatch(tx, action, options)
    return waitMs === null ? { kind: 'done' } : { kind: 'again', waitMs }
  },
})
