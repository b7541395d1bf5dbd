import type { Backlog } from './db/actions.js'
import type { CancelFilter } from './db/cancel-actions.js'
import type { DrizzleTransaction, QueryRunner } from './db/join-transaction.js'
import type { LaneState } from './db/lanes.js'
import type { ScheduleResult } from './db/schedule-actions.js'
import type { Action, NewAction } from './domain/action.js'
import type { LaneSettings } from './domain/lane.js'
import type { Mailbox } from './domain/message.js'
import type { RetryPolicies } from './domain/retry.js'
import type { Emails } from './emails.js'
import type { Dispatcher } from './engine/dispatcher.js'
import type { Handlers } from './engine/handler.js'
import type { Events } from './events.js'
import type { Log } from './log.js'
import type { Context } from './operations/context.js'
import type { SmtpProviderOptions } from './providers/smtp.js'
import type { SmtpSettings } from './providers/smtp-settings.js'

/** What the library's users give and get; `compose.ts` puts it together. */
export interface PostriderOptions {
  /** A PostgreSQL 15 or newer. Without it the embedded database in `dataDirectory` is used. */
  readonly databaseUrl?: string | null
  readonly dataDirectory?: string
  /** Use the embedded database of a process that already owns the directory, instead of failing. */
  readonly attach?: boolean
  /** Bring the schema up to date first (the default), or only insist that it is. */
  readonly migrate?: boolean
  readonly handlers?: Handlers
  readonly workspaceId?: string
  readonly concurrency?: number
  readonly leaseMs?: number
  readonly sweepMs?: number
  readonly retentionMs?: number
  /** How many people a campaign plans at a time unless it says otherwise. */
  readonly batchSize?: number
  /** From 0 to before 1, for the gaps between the emails of a sequence's sender; for tests. */
  readonly random?: () => number
  readonly retryPolicies?: RetryPolicies
  /** Redis (BullMQ) or RabbitMQ, to tell workers what is due. Without it they look for themselves. */
  readonly brokerUrl?: string | null
  readonly maxConnections?: number
  /** The mail server of the default sender. Without it the dev inbox keeps every email. */
  readonly smtpUrl?: string | null
  /** The only mail servers, as host:port, that this process connects to; a sender with another is refused. Absent: any. */
  readonly mailServers?: readonly string[]
  /** What the default sender signs with. */
  readonly dkim?: SmtpSettings['dkim']
  /** Who the default sender is: `Ada <ada@example.com>`, or name and address apart. */
  readonly mailFrom?: string | Mailbox
  /** Seals stored credentials and signs links. With the embedded database one is made if there is none. */
  readonly secret?: string | null
  /** Where links in emails lead to. */
  readonly publicUrl?: string
  /** An API key of the default workspace with all scopes. */
  readonly apiKey?: string | null
  /** What the dashboard's user admin logs in with; without it, with the password chosen by a link. */
  readonly adminPassword?: string | null
  readonly cronSecret?: string | null
  readonly rateLimit?: number
  readonly inlineDeadlineMs?: number
  /** The embedded database has died under this process: end it, so that it can be started again. */
  readonly onCrash?: (reason: string) => void
  readonly log?: Log
  /** For tests: the SQL expression that is asked for the time, instead of the database's own clock. */
  readonly now?: string
  /** What the dashboard shows as the settings in force, without secrets. */
  readonly settings?: readonly { readonly name: string; readonly value: string; readonly source: string }[]
  /** For tests: where the built dashboard is. */
  readonly dashboardDirectory?: string
  /** For tests: how long each step of a conversation with a mail server may take. */
  readonly smtpTimeouts?: SmtpProviderOptions['timeouts']
}

export interface Postrider {
  readonly emails: Emails
  readonly events: Events
  /** The HTTP API, for any server that speaks the web's Request and Response. */
  fetch(request: Request, env?: unknown): Response | Promise<Response>
  readonly actions: {
    /**
     * Schedules one or many. Durable when it resolves, or, with `tx`, when the caller's transaction commits: an action
     * exists if and only if the caller's own change does.
     */
    schedule(
      actions: NewAction | readonly NewAction[],
      options?: { tx?: QueryRunner | DrizzleTransaction },
    ): Promise<ScheduleResult>
    find(id: string): Promise<Action | null>
    cancel(filter: CancelFilter, reason?: string): Promise<string[]>
    retry(id: string): Promise<Action>
    dismiss(id: string): Promise<Action>
    resolve(id: string, outcome: 'done' | 'again'): Promise<Action>
  }
  readonly lanes: {
    configure(id: string, settings: LaneSettings): Promise<void>
    pause(id: string): Promise<LaneState>
    resume(id: string): Promise<LaneState>
    cancel(id: string): Promise<LaneState>
  }
  /** Starts the workers of this process. */
  start(): Promise<void>
  /**
   * Finishes what is under way, gives back the rest, closes the database. A conversation that is not over after `graceMs`
   * (20 s) is ended: if the mail server had the message and has not answered, that email is `uncertain`.
   */
  stop(options?: { readonly graceMs?: number }): Promise<void>
  /** Works until nothing is due or the time is up. */
  tick(forMs?: number): Promise<Dispatcher['counts']>
  backlog(): Promise<Backlog>
  readonly database: { readonly description: string; readonly durable: boolean }
  /** Names of the migrations this call applied. */
  readonly migrated: readonly string[]
  /** What the operations work on: for the command line and for tests. */
  readonly context: Context
}
