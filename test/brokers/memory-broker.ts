import type { Broker, FailureEvent, Hint, Message } from '../../src/brokers/broker.js'

/** A broker in this process that does what a test wants of it: loses, repeats, refuses, goes away. */
export interface MemoryBroker {
  /** Everything that was ever published, in order. */
  readonly published: readonly Hint[]
  readonly failures: readonly FailureEvent[]
  readonly held: number
  isUp: boolean
  /** Publishing fails, although it is there. */
  refuses: boolean
  /** How often each message is delivered. */
  copies: number
  /** Forgets every message it holds. */
  lose(): void
  /** The broker as one process sees it. */
  connect(): Broker
}

export function createMemoryBroker({ horizonMs = 0 } = {}): MemoryBroker {
  const published: Hint[] = []
  const failures: FailureEvent[] = []
  let waiting: Message[] = []
  let given = 0
  const consumers = new Set<{ room: number; onMessage: (message: Message) => Promise<void> }>()

  const deliver = () => {
    for (const consumer of consumers)
      while (consumer.room > 0 && waiting.length > 0 && memory.isUp) {
        const message = waiting.shift()!
        consumer.room--
        given++
        void consumer
          .onMessage(message)
          .catch(() => void waiting.push(message))
          .then(() => {
            consumer.room++
            given--
            setImmediate(deliver)
          })
      }
  }
  const requireUp = () => {
    if (!memory.isUp || memory.refuses) throw new Error('not now')
  }

  const memory: MemoryBroker = {
    published,
    failures,
    isUp: true,
    refuses: false,
    copies: 1,
    get held() {
      return waiting.length
    },
    lose() {
      waiting = []
    },
    connect() {
      let own: { room: number; onMessage: (message: Message) => Promise<void> } | undefined
      return {
        name: 'rabbitmq',
        carries: true,
        horizonMs,
        isUp: () => memory.isUp,
        async publish(hints) {
          // As late as a real one would answer: others get their turn in between.
          await new Promise((resolve) => setImmediate(resolve))
          requireUp()
          published.push(...hints)
          for (const { actionId, key, delayMs } of hints)
            setTimeout(
              () => {
                for (let copy = 0; copy < memory.copies; copy++) waiting.push({ actionId, key })
                deliver()
              },
              delayMs > 0 ? delayMs : 0,
            )
        },
        consume(concurrency, onMessage) {
          own = { room: concurrency, onMessage }
          consumers.add(own)
          deliver()
        },
        async stopConsuming() {
          if (own) consumers.delete(own)
        },
        async countHeld() {
          if (!memory.isUp) throw new Error('away')
          return waiting.length
        },
        countGiven: async () => given,
        findMissing: null,
        async announceFailures(events) {
          requireUp()
          failures.push(...events)
        },
        close: async () => undefined,
      }
    },
  }
  return memory
}
