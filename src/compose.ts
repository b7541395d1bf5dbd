import { hostname } from 'node:os'
import { dismissAction, findAction, retryAction, readBacklog, resolveAction, type Backlog } from './db/actions.js'
import { cancelActions, type CancelFilter } from './db/cancel-actions.js'
import { joinTransaction, type QueryRunner } from './db/client.js'
import { cancelLane, configureLane, pauseLane, resumeLane, type LaneState } from './db/lanes.js'
import { migrate, requireCurrentSchema } from './db/migrate.js'
import { openDatabase } from './db/open-database.js'
import type { ScheduleResult } from './db/schedule-actions.js'
import { WAKE_CHANNEL } from './db/wake-channel.js'
import type { Action, NewAction } from './domain/action.js'
import type { LaneSettings } from './domain/lane.js'
import { RETRY_POLICIES, type RetryPolicies } from './domain/retry.js'
import { createDispatcher, type Dispatcher } from './engine/dispatcher.js'
import type { Handlers } from './engine/handler.js'
import { createPruner } from './engine/pruner.js'
import { createRescuer, rebuild } from './engine/rescuer.js'
import { createWaker } from './engine/waker.js'
import { DEFAULT_WORKSPACE, newId } from './id.js'
import { createLog, type Log } from './log.js'
import { scheduleActions } from './operations/schedule-actions.js'

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
  readonly retryPolicies?: RetryPolicies
  readonly maxConnections?: number
  /** The embedded database has died under this process: end it, so that it can be started again. */
  readonly onCrash?: (reason: string) => void
  readonly log?: Log
}

export interface Postrider {
  readonly actions: {
    /**
     * Schedules one or many. Durable when it resolves, or, with `tx`, when the caller's transaction commits: an action
     * exists if and only if the caller's own change does.
     */
    schedule(actions: NewAction | readonly NewAction[], options?: { tx?: QueryRunner }): Promise<ScheduleResult>
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
}

export async function createPostrider(options: PostriderOptions = {}): Promise<Postrider> {
  const log = options.log ?? createLog('warn')
  const workspaceId = options.workspaceId ?? DEFAULT_WORKSPACE
  const opened = await openDatabase({
    databaseUrl: options.databaseUrl ?? null,
    dataDirectory: options.dataDirectory ?? './.postrider',
    attach: options.attach ?? false,
    log,
    ...(options.onCrash && { onCrash: options.onCrash }),
    ...(options.maxConnections !== undefined && { maxConnections: options.maxConnections }),
  })
  const { db } = opened
  let migrated: string[]
  try {
    migrated = options.migrate === false ? (await requireCurrentSchema(db), []) : await migrate(db)
  } catch (error) {
    await opened.close()
    throw error
  }

  const dispatcher = createDispatcher({
    db,
    log,
    handlers: options.handlers ?? {},
    policies: options.retryPolicies ?? RETRY_POLICIES,
    worker: `${hostname()}:${process.pid}:${newId().slice(-6)}`,
    concurrency: options.concurrency ?? 20,
    leaseMs: options.leaseMs ?? 60_000,
  })
  const waker = createWaker({ db, log, local: (later) => dispatcher.wake(later), others: opened.shared })
  const rescuer = createRescuer({ db, log, intervalMs: options.sweepMs ?? 5_000, onDue: () => dispatcher.wake(false) })
  const pruner = createPruner({ db, log, retentionMs: options.retentionMs ?? 90 * 86_400_000 })
  let stopListening: (() => Promise<void>) | undefined
  let stopped: Promise<void> | undefined

  const stop = async () => {
    await Promise.all([stopListening?.(), rescuer.stop(), pruner.stop()])
    await dispatcher.stop()
    await waker.close()
    await opened.close()
  }

  return {
    actions: {
      async schedule(actions, { tx } = {}) {
        const many = Array.isArray(actions) ? (actions as readonly NewAction[]) : [actions as NewAction]
        const result = await scheduleActions({ sql: tx ? joinTransaction(tx) : db, log }, workspaceId, many)
        if (tx) await tx.query(`notify ${WAKE_CHANNEL}`)
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
      const rebuilt = await rebuild(db)
      log.info(rebuilt, 'rebuilt')
      await dispatcher.drain(AbortSignal.timeout(forMs))
      return dispatcher.counts
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
