import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import { RequestError } from './problem.js'

/** How often a login may fail: per name, because passwords are guessed, and per address, because names are as well. */
export interface LoginLimit {
  /** Counts as failed until it is forgiven: many at once get no further than many in a row. */
  attempt(address: string | undefined, name: string | null): Promise<Attempt>
}

export interface Attempt {
  /** It was no failure after all. */
  forgive(): Promise<void>
}

const WINDOW_SECONDS = 15 * 60
const PER_NAME = 10
/** More than per name: a whole company may share an address, or a proxy's. */
const PER_ADDRESS = 50

export function createLoginLimit(): LoginLimit {
  const names = new RateLimiterMemory({ points: PER_NAME, duration: WINDOW_SECONDS })
  const addresses = new RateLimiterMemory({ points: PER_ADDRESS, duration: WINDOW_SECONDS })
  return {
    async attempt(address, name) {
      if (address !== undefined) await take(addresses, address)
      if (name !== null) await take(names, name)
      return {
        async forgive() {
          if (address !== undefined) await addresses.reward(address)
          if (name !== null) await names.reward(name)
        },
      }
    },
  }
}

async function take(limiter: RateLimiterMemory, key: string): Promise<void> {
  try {
    await limiter.consume(key)
  } catch (error) {
    if (!(error instanceof RateLimiterRes)) throw error
    const seconds = Math.max(1, Math.ceil(error.msBeforeNext / 1_000))
    throw new RequestError(
      'rate_limited',
      `Too many logins have failed. Try again in ${Math.ceil(seconds / 60)} minutes, or make a link with "postrider admin link".`,
      { headers: { 'Retry-After': String(seconds) } },
    )
  }
}
