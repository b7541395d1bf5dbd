import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import { RequestError } from './problem.js'

/** How often one key may ask, and how often one address may present a key that is none. */
export interface RateLimit {
  /** Counts one request; throws when there were too many. Returns what to tell in headers. */
  count(key: string): Promise<Readonly<Record<string, string>>>
}

export function createRateLimit(perSecond: number): RateLimit {
  const limiter = new RateLimiterMemory({ points: perSecond, duration: 1 })
  return {
    async count(key) {
      try {
        return headersOf(await limiter.consume(key), perSecond)
      } catch (error) {
        if (!(error instanceof RateLimiterRes)) throw error
        const headers = headersOf(error, perSecond)
        throw new RequestError('rate_limited', `At most ${perSecond} requests per second. Ask again in a moment.`, {
          headers: { ...headers, 'Retry-After': headers['RateLimit-Reset']! },
        })
      }
    },
  }
}

const headersOf = ({ remainingPoints, msBeforeNext }: RateLimiterRes, limit: number): Record<string, string> => ({
  'RateLimit-Limit': String(limit),
  'RateLimit-Remaining': String(Math.max(0, remainingPoints)),
  'RateLimit-Reset': String(Math.max(1, Math.ceil(msBeforeNext / 1_000))),
})
