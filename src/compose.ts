import { hostname } from 'node:os'
import { join } from 'node:path'
import { createAfterwards } from './afterwards.js'
import { composeContext } from './compose-context.js'
import { composeProviders, readSmtpUrl } from './compose-providers.js'
import { composeRelay } from './compose-relay.js'
import { readMailFrom } from './config.js'
import { dismissAction, findAction, retryAction, readBacklog, resolveAction } from './db/actions.js'
import { cancelActions } from './db/cancel-actions.js'
import { joinTransaction } from './db/join-transaction.js'
import { countLiveActions } from './db/count-actions.js'
import { type LoadedRecipient, loadRecipients, type RecipientRequest } from './db/campaign-deliveries.js'
import { type LoadedMessage, loadDeliveries, type DeliveryRequest } from './db/deliveries.js'
import { cancelLane, configureLane, pauseLane, resumeLane } from './db/lanes.js'
import { migrate, requireCurrentSchema } from './db/migrate.js'
import { openDatabase } from './db/open-database.js'
import { WAKE_CHANNEL } from './db/wake-channel.js'
import type { NewAction } from './domain/action.js'
import { BATCH_SIZES } from './domain/campaign.js'
import { RETRY_POLICIES } from './domain/retry.js'
import { createEmails } from './emails.js'
import { createDispatcher } from './engine/dispatcher.js'
import { createOutcomeNotes } from './engine/outcome-notes.js'
import { countAttempts, createCounter } from './engine/counter.js'
import { createPruner } from './engine/pruner.js'
import { createPump } from './engine/pump.js'
import { createRescuer, rebuild } from './engine/rescuer.js'
import { createSender } from './engine/sender.js'
import { createWaker } from './engine/waker.js'
import { createWalker } from './engine/walker.js'
import { createEvents } from './events.js'
import { groupCommit } from './group-commit.js'
import type { App } from './http/create-app.js'
import { DEFAULT_WORKSPACE, newId } from './id.js'
import { createLinkSigner } from './link-signer.js'
import { createLog } from './log.js'
import { createMetrics } from './metrics.js'
import { ensureConfiguredSender, followSettings } from './operations/configured-sender.js'
import { stopAfter } from './operations/enrollments.js'
import { createDeliveryLoader } from './operations/load-delivery.js'
import { createStepLoader } from './operations/load-step.js'
import { INLINE_DEADLINE_MS } from './operations/send-emails.js'
import { scheduleActions } from './operations/schedule-actions.js'
import { findSecret } from './secret.js'
import { createSecretBox, type SecretBox } from './secret-box.js'
import { createCampaignRenderer } from './templates/render-campaign-email.js'
import type { Postrider, PostriderOptions } from './postrider.js'
import { SETTINGS } from './settings.js'

/** The wiring: the only place that knows how the parts are put together. */
const DATA_DIRECTORY = './.postrider'
const PUBLIC_URL = 'http://127.0.0.1:3400'
const LOADED_TOGETHER = 500
/** Of a campaign, due and unsent: so many that it never runs dry between two of its turns, or others would get ahead. */
const BATCHES_AHEAD = 6

export async function createPostrider(options: PostriderOptions = {}): Promise<Postrider> {
  const log = options.log ?? createLog('warn')
  const workspaceId = options.workspaceId ?? DEFAULT_WORKSPACE
  const smtp = options.smtpUrl ? readSmtpUrl(options.smtpUrl, options) : null
  const mailFrom = readMailFrom('mailFrom', options.mailFrom ?? SETTINGS.MAIL_FROM.fallback)
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

  const random = options.random ?? Math.random
  const worker = `${hostname()}:${process.pid}:${newId().slice(-6)}`
  const leaseMs = options.leaseMs ?? 60_000
  const sweepMs = options.sweepMs ?? 5_000
  const concurrency = options.concurrency ?? 20
  const policies = options.retryPolicies ?? RETRY_POLICIES
  const dataDirectory = options.dataDirectory ?? DATA_DIRECTORY
  let secretBox: SecretBox | undefined
  const readSecret = () => findSecret(options.secret ?? null, options.databaseUrl ? null : dataDirectory)
  const openSecretBox = () => (secretBox ??= createSecretBox(readSecret()))
  const publicUrl = options.publicUrl ?? PUBLIC_URL
  const links = createLinkSigner(readSecret)
  const renderer = createCampaignRenderer({ publicUrl, sign: links })

  const metrics = createMetrics({
    backlog: () => readBacklog(db),
    countActions: () => countLiveActions(db),
    broker: () => (relay.isWanted ? { name: relay.name, isUp: relay.carries() } : null),
  })
  const providers = composeProviders({
    db,
    log,
    smtp,
    secretBox: openSecretBox,
    mailServers: options.mailServers,
    ...(options.smtpTimeouts && { timeouts: options.smtpTimeouts }),
  })
  const together = { maxItems: LOADED_TOGETHER, maxFlushes: 2 }
  const loadRecipient = groupCommit<RecipientRequest, LoadedRecipient>(
    (requests) => loadRecipients(db, requests),
    together,
  )
  const loadMessages = (options?: { readonly light: boolean }) =>
    groupCommit<DeliveryRequest, LoadedMessage | null>((requests) => loadDeliveries(db, requests, options), together)
  const loader = createDeliveryLoader({
    db,
    loadMessage: loadMessages(),
    loadLightMessage: loadMessages({ light: true }),
    loadRecipient,
    findSender: (of, id) => context.findSender(of, id),
    renderer: () => context.renderer,
    loadStep: createStepLoader({
      db,
      random,
      loadRecipient,
      findSender: (of, id) => context.findSender(of, id),
      renderer: () => context.renderer,
    }),
  })
  const sender = createSender({
    db,
    log,
    worker,
    loader,
    async providerOf(workspaceId, senderId) {
      const found = await context.findSender(workspaceId, senderId)
      return found && { provider: providers.of(found) }
    },
    onAttempt: (attempt) => metrics.onAttempt(attempt),
  })
  const notes = createOutcomeNotes(join(dataDirectory, 'notes'), worker, log)
  const relay = composeRelay({
    brokerUrl: options.brokerUrl ?? null,
    db,
    log,
    sweepMs,
    concurrency,
    metrics: () => metrics,
    dispatcher: () => dispatcher,
  })
  const afterwards = createAfterwards((error) =>
    log.warn({ err: error }, 'an enrollment could not be stopped at once; its next email or wait will see to it'),
  )
  const dispatcher = createDispatcher({
    db,
    log,
    notes,
    policies,
    worker,
    leaseMs,
    handlers: {
      send: sender,
      batch: createPump({ log, random, batchesAhead: BATCHES_AHEAD }),
      ...createWalker({ log, random }),
      ...options.handlers,
    },
    concurrency,
    sweepMs,
    onSettled: (action, outcome) => {
      metrics.onSettled(action, outcome)
      relay.onSettled(outcome)
      if (action.enrollmentId !== null) afterwards.add(stopAfter({ db, log, random }, action, outcome))
    },
    onRepeated: () => waker.wake(false),
    cutShort: () => providers.cutShort(),
    ...(relay.isWanted && { brokered: () => relay.carries() }),
    onDropped: (messages) => metrics.onDropped(relay.name, messages),
    onEarly: () => relay.wake(),
  })
  const wake = (later?: boolean) => {
    dispatcher.wake(later)
    relay.wake()
  }
  const waker = createWaker({ db, log, local: wake, others: opened.shared })
  const resend = { maxAttempts: policies.transactional.maxAttempts, waitMs: policies.transactional.waitsMs[0] ?? 0 }
  const rescuer = createRescuer({
    db,
    log,
    resend,
    intervalMs: sweepMs,
    relayed: relay.isWanted,
    onDue: () => wake(false),
    onRebuilt: (rebuilt) => metrics.onRebuilt(rebuilt),
  })
  const counter = createCounter({ db, log })
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
    random,
    batchSize: options.batchSize ?? BATCH_SIZES.default,
  })
  const configured = { ...mailFrom, provider: smtp === null ? ('capture' as const) : ('smtp' as const) }
  let ready = true
  let works = false
  const tick = async (forMs: number) => {
    const rebuilt = await rebuild(db, resend)
    log.info(rebuilt, 'rebuilt')
    await dispatcher.drain(AbortSignal.timeout(forMs))
    await afterwards.over()
    await countAttempts(db)
    return dispatcher.counts
  }
  const createApp = async (): Promise<App> =>
    (await import('./http/create-app.js')).createApp({
      context,
      metrics,
      tick,
      apiKey: options.apiKey ?? null,
      adminPassword: options.adminPassword ?? null,
      cronSecret: options.cronSecret ?? null,
      rateLimit: options.rateLimit ?? 1_000,
      inlineDeadlineMs: options.inlineDeadlineMs ?? INLINE_DEADLINE_MS,
      isReady: () => ready,
      publicUrl,
      settings: options.settings ?? [],
      database: options.databaseUrl ? 'postgresql' : 'embedded',
      broker: options.brokerUrl ? new URL(options.brokerUrl).protocol.replace(':', '') : null,
      // Only who relays can know: a process that only answers never asks the broker.
      brokerDown: () => (works && relay.isWanted && !relay.carries() ? relay.name : null),
      retryPolicies: policies,
      ...(options.dashboardDirectory !== undefined && { dashboardDirectory: options.dashboardDirectory }),
    })
  // The API is more to load than all the rest: a worker, or a command that only asks, does without it.
  let app: Promise<App> | undefined
  let stopListening: (() => Promise<void>) | undefined
  let stopped: Promise<void> | undefined

  const stop = async (graceMs?: number) => {
    ready = false
    const loops = [rescuer.stop(), pruner.stop(), counter.stop()]
    const [{ closed }] = await Promise.all([relay.stop(), stopListening?.(), ...loops])
    await dispatcher.stop(graceMs)
    await afterwards.over()
    await closed()
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
    events: createEvents(context, workspaceId),
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
        () => wake(),
        (error) => log.warn({ err: error }, 'wake-ups from others are lost; polling until they are back'),
      )
      rescuer.start()
      pruner.start()
      counter.start()
      dispatcher.start()
      await relay.start()
      works = true
    },
    stop: ({ graceMs } = {}) => (stopped ??= stop(graceMs)),
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
