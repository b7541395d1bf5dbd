import { hostname } from 'node:os'
import { join } from 'node:path'
import { composeContext } from './compose-context.js'
import { composeProviders, readSmtpUrl } from './compose-providers.js'
import { dismissAction, findAction, retryAction, readBacklog, resolveAction, type Backlog } from './db/actions.js'
import { cancelActions, type CancelFilter } from './db/cancel-actions.js'
import { type DrizzleTransaction, joinTransaction, type QueryRunner } from './db/client.js'
import { countLiveActions } from './db/count-actions.js'
import { type LoadedRecipient, loadRecipients, type RecipientRequest } from './db/campaign-deliveries.js'
import { type LoadedMessage, loadDeliveries, type DeliveryRequest } from './db/deliveries.js'
import { cancelLane, configureLane, pauseLane, resumeLane, type LaneState } from './db/lanes.js'
import { migrate, requireCurrentSchema } from './db/migrate.js'
import { openDatabase } from './db/open-database.js'
import type { ScheduleResult } from './db/schedule-actions.js'
import { WAKE_CHANNEL } from './db/wake-channel.js'
import type { Action, NewAction } from './domain/action.js'
import type { LaneSettings } from './domain/lane.js'
import type { Mailbox } from './domain/message.js'
import { BATCH_SIZES } from './domain/campaign.js'
import { RETRY_POLICIES, type RetryPolicies } from './domain/retry.js'
import { type Emails, createEmails } from './emails.js'
import { createDispatcher, type Dispatcher } from './engine/dispatcher.js'
import type { Handlers } from './engine/handler.js'
import { createOutcomeNotes } from './engine/outcome-notes.js'
import { createPruner } from './engine/pruner.js'
import { createPump } from './engine/pump.js'
import { createRescuer, rebuild } from './engine/rescuer.js'
import { createSender } from './engine/sender.js'
import { createWaker } from './engine/waker.js'
import { groupCommit } from './group-commit.js'
import { createApp } from './http/create-app.js'
import { DEFAULT_WORKSPACE, newId } from './id.js'
import { createLinkSigner } from './link-signer.js'
import { createLog, type Log } from './log.js'
import { createMetrics } from './metrics.js'
import { ensureConfiguredSender, followSettings } from './operations/configured-sender.js'
import type { Context } from './operations/context.js'
import { createDeliveryLoader } from './operations/load-delivery.js'
import { INLINE_DEADLINE_MS } from './operations/send-emails.js'
import { scheduleActions } from './operations/schedule-actions.js'
import type { SmtpProviderOptions } from './providers/smtp.js'
import type { SmtpSettings } from './providers/smtp-settings.js'
import { findSecret } from './secret.js'
import { createSecretBox, type SecretBox } from './secret-box.js'
import { createCampaignRenderer } from './templates/render-campaign-email.js'

/** The wiring: the only place that knows how the parts are put together. */
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
  readonly retryPolicies?: RetryPolicies
  readonly maxConnections?: number
  /** The mail server of the default sender. Without it the dev inbox keeps every email. */
  readonly smtpUrl?: string | null
  /** What the default sender signs with. */
  readonly dkim?: SmtpSettings['dkim']
  /** Who the default sender is. */
  readonly mailFrom?: Mailbox
  /** Seals stored credentials and signs links. With the embedded database one is made if there is none. */
  readonly secret?: string | null
  /** Where links in emails lead to. */
  readonly publicUrl?: string
  /** An API key of the default workspace with all scopes. */
  readonly apiKey?: string | null
  readonly cronSecret?: string | null
  readonly rateLimit?: number
  readonly inlineDeadlineMs?: number
  /** The embedded database has died under this process: end it, so that it can be started again. */
  readonly onCrash?: (reason: string) => void
  readonly log?: Log
  /** For tests: the SQL expression that is asked for the time, instead of the database's own clock. */
  readonly now?: string
  /** For tests: how long each step of a conversation with a mail server may take. */
  readonly smtpTimeouts?: SmtpProviderOptions['timeouts']
}

export interface Postrider {
  readonly emails: Emails
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
  /** Finishes what is armed, gives back the rest, closes the database. */
  stop(): Promise<void>
  /** Works until nothing is due or the time is up. */
  tick(forMs?: number): Promise<Dispatcher['counts']>
  backlog(): Promise<Backlog>
  readonly database: { readonly description: string; readonly durable: boolean }
  /** Names of the migrations this call applied. */
  readonly migrated: readonly string[]
  /** What the operations work on: for the command line and for tests. */
  readonly context: Context
}

const MAIL_FROM: Mailbox = { name: 'Postrider', address: 'hello@localhost' }
const DATA_DIRECTORY = './.postrider'
const PUBLIC_URL = 'http://127.0.0.1:3400'
const LOADED_TOGETHER = 500
/** Of a campaign, due and unsent: one is being sent while the next is planned. */
const BATCHES_AHEAD = 2

export async function createPostrider(options: PostriderOptions = {}): Promise<Postrider> {
  const log = options.log ?? createLog('warn')
  const workspaceId = options.workspaceId ?? DEFAULT_WORKSPACE
  const smtp = options.smtpUrl ? readSmtpUrl(options.smtpUrl, options.dkim ?? null) : null
  const opened = await openDatabase({
    databaseUrl: options.databaseUrl ?? null,
    dataDirectory: options.dataDirectory ?? DATA_DIRECTORY,
    attach: options.attach ?? false,
    log,
    ...(options.onCrash && { onCrash: options.onCrash }),
    ...(options.maxConnections !== undefined && { maxConnections: options.maxConnections }),
    ...(options.now !== undefined && { now: options.now }),
  })
  const { db } = opened
  let migrated: string[]
  try {
    migrated = options.migrate === false ? (await requireCurrentSchema(db), []) : await migrate(db)
  } catch (error) {
    await opened.close()
    throw error
  }

  const worker = `${hostname()}:${process.pid}:${newId().slice(-6)}`
  const leaseMs = options.leaseMs ?? 60_000
  const policies = options.retryPolicies ?? RETRY_POLICIES
  const mailFrom = options.mailFrom ?? MAIL_FROM
  const dataDirectory = options.dataDirectory ?? DATA_DIRECTORY
  let secretBox: SecretBox | undefined
  const readSecret = () => findSecret(options.secret ?? null, options.databaseUrl ? null : dataDirectory)
  const openSecretBox = () => (secretBox ??= createSecretBox(readSecret()))
  const publicUrl = options.publicUrl ?? PUBLIC_URL
  const links = createLinkSigner(readSecret)
  const renderer = createCampaignRenderer({ publicUrl, sign: links })

  const metrics = createMetrics({ backlog: () => readBacklog(db), countActions: () => countLiveActions(db) })
  const providers = composeProviders({
    db,
    log,
    smtp,
    secretBox: openSecretBox,
    ...(options.smtpTimeouts && { timeouts: options.smtpTimeouts }),
  })
  const together = { maxItems: LOADED_TOGETHER, maxFlushes: 2 }
  const load = createDeliveryLoader({
    db,
    loadMessage: groupCommit<DeliveryRequest, LoadedMessage | null>(
      (requests) => loadDeliveries(db, requests),
      together,
    ),
    loadRecipient: groupCommit<RecipientRequest, LoadedRecipient>((requests) => loadRecipients(db, requests), together),
    findSender: (of, id) => context.findSender(of, id),
    renderer: () => context.renderer,
  })
  const sender = createSender({
    db,
    log,
    worker,
    load,
    async providerOf(workspaceId, senderId) {
      const found = await context.findSender(workspaceId, senderId)
      return found && { provider: providers.of(found) }
    },
    onAttempt: (attempt) => metrics.onAttempt(attempt),
  })
  const notes = createOutcomeNotes(join(dataDirectory, 'notes'), worker, log)
  const dispatcher = createDispatcher({
    db,
    log,
    notes,
    policies,
    worker,
    leaseMs,
    handlers: { send: sender, batch: createPump({ log, batchesAhead: BATCHES_AHEAD }), ...options.handlers },
    concurrency: options.concurrency ?? 20,
    onSettled: (action, outcome) => metrics.onSettled(action, outcome),
    onRepeated: () => waker.wake(false),
  })
  const waker = createWaker({ db, log, local: (later) => dispatcher.wake(later), others: opened.shared })
  const resend = { maxAttempts: policies.transactional.maxAttempts, waitMs: policies.transactional.waitsMs[0] ?? 0 }
  const rescuer = createRescuer({
    db,
    log,
    resend,
    intervalMs: options.sweepMs ?? 5_000,
    onDue: () => dispatcher.wake(false),
    onRebuilt: (rebuilt) => metrics.onRebuilt(rebuilt),
  })
  const pruner = createPruner({ db, log, retentionMs: options.retentionMs ?? 90 * 86_400_000 })
  const context = composeContext({
    db,
    log,
    dispatcher,
    waker,
    providers,
    worker,
    leaseMs,
    secretBox: openSecretBox,
    links,
    publicUrl,
    renderer,
    batchSize: options.batchSize ?? BATCH_SIZES.default,
  })
  const configured = { ...mailFrom, provider: smtp === null ? ('capture' as const) : ('smtp' as const) }
  let ready = true
  const tick = async (forMs: number) => {
    const rebuilt = await rebuild(db, resend)
    log.info(rebuilt, 'rebuilt')
    await dispatcher.drain(AbortSignal.timeout(forMs))
    return dispatcher.counts
  }
  const app = createApp({
    context,
    metrics,
    tick,
    apiKey: options.apiKey ?? null,
    cronSecret: options.cronSecret ?? null,
    rateLimit: options.rateLimit ?? 1_000,
    inlineDeadlineMs: options.inlineDeadlineMs ?? INLINE_DEADLINE_MS,
    isReady: () => ready,
    retryPolicies: policies,
  })
  let stopListening: (() => Promise<void>) | undefined
  let stopped: Promise<void> | undefined

  const stop = async () => {
    ready = false
    await Promise.all([stopListening?.(), rescuer.stop(), pruner.stop()])
    await dispatcher.stop()
    await app.close()
    await waker.close()
    await providers.close()
    await opened.close()
  }

  try {
    await ensureConfiguredSender(context, workspaceId, configured)
  } catch (error) {
    await stop()
    throw error
  }

  return {
    context,
    emails: createEmails(context, workspaceId, options.inlineDeadlineMs ?? INLINE_DEADLINE_MS),
    fetch: (request, env) => app.fetch(request, env),
    actions: {
      async schedule(actions, { tx } = {}) {
        const many = Array.isArray(actions) ? (actions as readonly NewAction[]) : [actions as NewAction]
        const joined = tx && joinTransaction(tx, db.now)
        const result = await scheduleActions({ sql: joined ?? db, log }, workspaceId, many)
        if (joined) await joined.query(`notify ${WAKE_CHANNEL}`)
        else waker.wake(many.some(({ runAt }) => runAt !== undefined))
        return result
      },
      find: (id) => findAction(db, workspaceId, id),
      cancel: (filter, reason = 'canceled') => cancelActions(db, workspaceId, filter, reason),
      retry: (id) => waking(retryAction(db, workspaceId, id)),
      dismiss: (id) => dismissAction(db, workspaceId, id),
      resolve: (id, outcome) => waking(resolveAction(db, workspaceId, id, outcome)),
    },
    lanes: {
      configure: (id, settings) => configureLane(db, workspaceId, id, settings),
      pause: (id) => pauseLane(db, workspaceId, id),
      resume: (id) => waking(resumeLane(db, workspaceId, id)),
      cancel: (id) => cancelLane(db, workspaceId, id),
    },
    async start() {
      await followSettings(context, workspaceId, configured, { alone: !opened.shared })
      await notes.replay(db)
      stopListening ??= await db.listen(
        WAKE_CHANNEL,
        () => dispatcher.wake(),
        (error) => log.warn({ err: error }, 'wake-ups from others are lost; polling until they are back'),
      )
      rescuer.start()
      pruner.start()
      dispatcher.start()
    },
    stop: () => (stopped ??= stop()),
    async tick(forMs = 50_000) {
      await followSettings(context, workspaceId, configured, { alone: !opened.shared })
      await notes.replay(db)
      return tick(forMs)
    },
    backlog: () => readBacklog(db),
    database: { description: opened.description, durable: opened.durable },
    migrated,
  }

  async function waking<T>(work: Promise<T>): Promise<T> {
    const result = await work
    waker.wake()
    return result
  }
}
