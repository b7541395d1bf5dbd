import { isDatabaseUnavailable } from '../db/client.js'

const FIRST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 5_000

/** Does the work again and again while the database is away; any other error is the caller's. */
export async function whileAway<T>(work: () => Promise<T>): Promise<T> {
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    try {
      return await work()
    } catch (error) {
      if (!isDatabaseUnavailable(error)) throw error
      await new Promise((resolve) => setTimeout(resolve, pauseMs))
    }
  }
}
