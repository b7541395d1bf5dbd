import { hostname } from 'node:os'
import { join } from 'node:path'
import { composeContext } from './compose-context.js'
import { composeProviders, readSmtpUrl } from './compose-providers.js'
import { dismissAction, findAction, retryAction, readBacklog, resolveAction } from './db/actions.js'
import { cancelActions } from './db/cancel-actions.js'
import { joinTransaction } from './db/client.js'
import { countLiveActions } from './db/count-actions.js'
import { type LoadedRecipient, loadRecipients, type RecipientRequest } from './db/campaign-deliveries.js'
import { type LoadedMessage, loadDeliveries, type DeliveryRequest } from './db/deliveries.js'
import { cancelLane, configureLane, pauseLane, resumeLane } from './db/lanes.js'
import { migrate, requireCurrentSchema } from './db/migrate.js'
import { openDatabase } from './db/open-database.js'
import { WAKE_CHANNEL } from './db/wake-channel.js'
import type { NewAction } from './domain/action.js'
import type { Mailbox } from './domain/message.js'
import { BATCH_SIZES } from './domain/campaign.js'
import { RETRY_POLICIES } from './domain/retry.js'
import { createEmails } from './emails.js'
import { createDispatcher } from './engine/dispatcher.js'
import { createOutcomeNotes } from './engine/outcome-notes.js'
import { createPruner } from './engine/pruner.js'
import { createPump } from './engine/pump.js'
import { createRescuer, rebuild } from './engine/rescuer.js'
import { createSender } from './engine/sender.js'
import { createWaker } from './engine/waker.js'
import { groupCommit } from './group-commit.js'
import type { App } from './http/create-app.js'
import { DEFAULT_WORKSPACE, newId } from './id.js'
import { createLinkSigner } from './link-signer.js'
import { createLog } from './log.js'
import { createMetrics } from './metrics.js'
import { ensureConfiguredSender, followSettings } from './operations/configured-sender.js'
import { createDeliveryLoader } from './operations/load-delivery.js'
import { INLINE_DEADLINE_MS } from './operations/send-emails.js'
import { scheduleActions } from './operations/schedule-actions.js'
import { findSecret } from './secret.js'
import { createSecretBox, type SecretBox } from './secret-box.js'
import { createCampaignRenderer } from './templates/render-campaign-email.js'
import type { Postrider, PostriderOptions } from './postrider.js'

/** The wiring: the only place that knows how the parts are put together. */
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
  const createApp = async (): Promise<App> =>
    (await import('./http/create-app.js')).createApp({
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
  // The API is more to load than all the rest: a worker, or a command that only asks, does without it.
  let app: Promise<App> | undefined
  let stopListening: (() => Promise<void>) | undefined
  let stopped: Promise<void> | undefined

  const stop = async () => {
    ready = false
    await Promise.all([stopListening?.(), rescuer.stop(), pruner.stop()])
    await dispatcher.stop()
    await (await app)?.close()
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
    async fetch(request, env) {
      app ??= createApp()
      return (await app).fetch(request, env)
    },
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
