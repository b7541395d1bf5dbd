import type { Consumer, Publisher } from 'rabbitmq-client'
import type { Broker, FailureEvent, Hint, Message } from './broker.js'
import type { BrokerOptions } from './bullmq.js'
import { loadClient } from './load-client.js'
import { DEAD_QUEUE, queueName, RETRY_QUEUE, SEND_QUEUE } from './parse-broker-url.js'
import { within } from './within.js'

/**
 * RabbitMQ: durable queues, persistent messages, confirms. What is not due yet waits in the retry queue, which nobody
 * consumes: a message's time there runs out and it moves on to the send queue. Only the first in a queue can run out, so
 * one that is due early waits behind one that is due later: hence the short horizon.
 */
const HORIZON_MS = 5_000
const ANSWER_MS = 10_000
const CLOSE_MS = 5_000
/** Priorities in RabbitMQ go up, ranks go down. */
const MOST_PRIORITY = 2

export async function openRabbitmq({ url, prefix, log }: BrokerOptions): Promise<Broker> {
  const { Connection } = await loadClient('rabbitmq-client', () => import('rabbitmq-client'))
  const send = queueName(prefix, SEND_QUEUE)
  const retry = queueName(prefix, RETRY_QUEUE)
  const dead = queueName(prefix, DEAD_QUEUE)
  const queues = {
    send: { queue: send, durable: true, arguments: { 'x-max-priority': MOST_PRIORITY } },
    retry: {
      queue: retry,
      durable: true,
      arguments: { 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': send },
    },
    dead: { queue: dead, durable: true },
  }
  const connection = new Connection({
    url,
    retryLow: 200,
    retryHigh: 2_000,
    connectionTimeout: CLOSE_MS,
    acquireTimeout: CLOSE_MS,
    heartbeat: 10,
    noDelay: true,
  })
  connection.on('error', (error) => log.debug({ err: error as Error }, 'rabbitmq'))
  const publisher: Publisher = connection.createPublisher({ confirm: true, queues: Object.values(queues) })
  let consumer: Consumer | undefined
  let prefetch = 0

  const publish = ({ actionId, key, jobId, type, rank, delayMs }: Hint) =>
    publisher.send(
      {
        routingKey: delayMs > 0 ? retry : send,
        durable: true,
        messageId: jobId,
        type,
        priority: MOST_PRIORITY - rank,
        ...(delayMs > 0 && { expiration: String(Math.ceil(delayMs)) }),
      },
      { id: actionId, key },
    )

  return {
    name: 'rabbitmq',
    carries: true,
    findMissing: null,
    horizonMs: HORIZON_MS,
    isUp: () => connection.ready,
    async publish(hints) {
      await within(ANSWER_MS, 'Publishing to RabbitMQ', Promise.all(hints.map(publish)))
    },
    consume(concurrency: number, onMessage: (message: Message) => Promise<void>) {
      prefetch = concurrency
      consumer = connection.createConsumer(
        { queue: send, queueOptions: queues.send, qos: { prefetchCount: concurrency } },
        async ({ body }) => {
          const { id, key } = (body ?? {}) as { id?: unknown; key?: unknown }
          // Somebody else's message in our queue: acknowledged and gone, or it would come back for ever.
          if (typeof id !== 'string' || typeof key !== 'string')
            return log.warn('a message that is no hint was dropped')
          await onMessage({ actionId: id, key })
        },
      )
      consumer.on('error', (error) => log.debug({ err: error as Error }, 'rabbitmq consumer'))
    },
    async stopConsuming() {
      await within(CLOSE_MS, 'Closing', consumer?.close() ?? Promise.resolve()).catch(() => undefined)
    },
    async countHeld() {
      const held = [queues.send, queues.retry].map((queue) => connection.queueDeclare(queue))
      const counts = await within(ANSWER_MS, 'Asking RabbitMQ', Promise.all(held))
      return counts.reduce((sum, { messageCount }) => sum + messageCount, 0)
    },
    async countGiven() {
      // It says how many consume, not how much they have: as much as they may, if all workers are set alike.
      const { consumerCount } = await within(ANSWER_MS, 'Asking RabbitMQ', connection.queueDeclare(queues.send))
      return consumerCount * prefetch
    },
    async announceFailures(failures: readonly FailureEvent[]) {
      const told = failures.map((failure) =>
        publisher.send({ routingKey: dead, durable: true, type: failure.event }, failure),
      )
      await within(ANSWER_MS, 'Publishing to RabbitMQ', Promise.all(told))
    },
    async close() {
      // A connection that is away never says that it is closed.
      await within(
        CLOSE_MS,
        'Closing',
        publisher.close().then(() => connection.close()),
      ).catch(() => undefined)
      connection.unsafeDestroy()
    },
  }
}
