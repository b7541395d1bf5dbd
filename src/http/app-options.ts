import type { RetryPolicies } from '../domain/retry.js'
import type { Context } from '../operations/context.js'
import type { Metrics } from '../metrics.js'

/** What the HTTP side is given by compose. */
export interface AppOptions {
  readonly context: Context
  readonly metrics: Metrics
  /** POSTRIDER_API_KEY: valid for the default workspace with all scopes. */
  readonly apiKey: string | null
  /** POSTRIDER_ADMIN_PASSWORD: what the dashboard's user admin logs in with. */
  readonly adminPassword: string | null
  /** CRON_SECRET: without it the cron route answers 404. */
  readonly cronSecret: string | null
  /** Requests per second and key, with a burst of as many. */
  readonly rateLimit: number
  readonly inlineDeadlineMs: number
  readonly retryPolicies: RetryPolicies
  /** Where the built dashboard is, unless it is where the build of this package puts it. */
  readonly dashboardDirectory?: string
  /** Where people reach this. */
  readonly publicUrl: string
  /** The settings in force, without secrets; none when it was composed by a program. */
  readonly settings?: readonly { readonly name: string; readonly value: string; readonly source: string }[]
  readonly database?: 'embedded' | 'postgresql'
  /** The scheme of BROKER_URL. */
  readonly broker?: string | null
  /** The broker that should tell this process what is due and does not answer. */
  brokerDown?(): string | null
  /** One bounded tick: works until nothing is due or the time is up. */
  tick(forMs: number): Promise<Readonly<Record<string, number>>>
  /** False once the process has been asked to stop. */
  isReady(): boolean
}
