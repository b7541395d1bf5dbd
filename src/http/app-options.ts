import type { RetryPolicies } from '../domain/retry.js'
import type { Context } from '../operations/context.js'
import type { Metrics } from '../metrics.js'

/** What the HTTP side is given by compose. */
export interface AppOptions {
  readonly context: Context
  readonly metrics: Metrics
  /** POSTRIDER_API_KEY: valid for the default workspace with all scopes. */
  readonly apiKey: string | null
  /** CRON_SECRET: without it the cron route answers 404. */
  readonly cronSecret: string | null
  /** Requests per second and key, with a burst of as many. */
  readonly rateLimit: number
  readonly inlineDeadlineMs: number
  readonly retryPolicies: RetryPolicies
  /** One bounded tick: works until nothing is due or the time is up. */
  tick(forMs: number): Promise<Readonly<Record<string, number>>>
  /** False once the process has been asked to stop. */
  isReady(): boolean
}
