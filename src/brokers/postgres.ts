import type { Broker } from './broker.js'

/**
 * The database as its own broker, which is what there is without BROKER_URL. Its hints are rows that workers claim by
 * themselves, so publishing means no more than waking them, and there is nothing to consume, to count or to lose.
 */
export const createPostgresBroker = (wake: () => void): Broker => ({
  name: 'postgres',
  carries: false,
  horizonMs: 0,
  isUp: () => true,
  publish: async () => wake(),
  consume: () => undefined,
  stopConsuming: async () => undefined,
  countHeld: async () => 0,
  countGiven: async () => 0,
  findMissing: null,
  announceFailures: null,
  close: async () => undefined,
})
