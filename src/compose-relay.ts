import type { Broker, BrokerName } from './brokers/broker.js'
import { encodeJobId } from './brokers/job-id.js'
import { openBroker } from './brokers/open-broker.js'
import { parseBrokerUrl } from './brokers/parse-broker-url.js'
import { createPostgresBroker } from './brokers/postgres.js'
import type { Database } from './db/client.js'
import type { Outcome } from './domain/action.js'
import type { Dispatcher } from './engine/dispatcher.js'
import { createRelay, type Relay } from './engine/relay.js'
import type { Log } from './log.js'
import type { Metrics } from './metrics.js'

/** Puts a broker, the relay that fills it and the dispatcher that empties it together; only a process that works has one. */
export interface ComposedRelay {
  readonly name: BrokerName
  /** Whether a broker is configured. */
  readonly isWanted: boolean
  carries(): boolean
  wake(inMs?: number): void
  onSettled(outcome: Outcome): void
  start(): Promise<void>
  /** Nothing more is published or taken. Resolves with what to wait for once the dispatcher has stopped. */
  stop(): Promise<{ readonly closed: () => Promise<void> }>
}

export interface ComposedRelayOptions {
  readonly brokerUrl: string | null
  readonly db: Database
  readonly log: Log
  readonly sweepMs: number
  readonly concurrency: number
  readonly metrics: () => Metrics
  readonly dispatcher: () => Dispatcher
}

export function composeRelay(options: ComposedRelayOptions): ComposedRelay {
  const { brokerUrl, db, log, sweepMs, concurrency, metrics, dispatcher } = options
  // A URL that cannot be used is refused before anything is opened.
  const name = brokerUrl === null ? 'postgres' : parseBrokerUrl(brokerUrl).name
  let broker: Broker | undefined
  let relay: Relay | undefined

  return {
    name,
    isWanted: brokerUrl !== null,
    carries: () => relay?.carries() ?? false,
    wake: (inMs) => relay?.wake(inMs),
    onSettled(outcome) {
      if (outcome.kind === 'retry' || outcome.kind === 'release') relay?.wake(outcome.waitMs)
      if (outcome.kind === 'failed') relay?.onFailed()
    },
    async start() {
      broker ??= brokerUrl === null ? createPostgresBroker(() => dispatcher().wake()) : await openBroker(brokerUrl, log)
      if (!broker.carries || relay) return
      relay = createRelay({
        db,
        broker,
        log,
        sweepMs,
        jobIdOf: ({ workspaceId, dedupeKey, position }) => encodeJobId(workspaceId, dedupeKey, position),
        onPublished: (hints) => metrics().onPublished(name, hints),
        onSwept: (swept) => metrics().onSwept(name, swept),
        onChanged: () => dispatcher().wake(),
      })
      relay.start()
      broker.consume(concurrency, ({ actionId }) => dispatcher().offer(actionId))
    },
    async stop() {
      await relay?.stop()
      // What was begun for a message ends with the dispatcher, and only then is it acknowledged.
      const consumed = broker?.stopConsuming()
      return {
        async closed() {
          await consumed
          await broker?.close()
        },
      }
    },
  }
}

/** Connects as a worker would and asks how much the broker holds; null when it does not answer in time. */
export async function askBroker(brokerUrl: string, log: Log, patienceMs: number): Promise<number | null> {
  const broker = await openBroker(brokerUrl, log)
  try {
    const deadline = performance.now() + patienceMs
    while (!broker.isUp() && performance.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 25))
    return broker.isUp() ? await broker.countHeld() : null
  } finally {
    await broker.close()
  }
}
