import { randomBytes } from 'node:crypto'
import { Redis } from 'ioredis'
import { Connection } from 'rabbitmq-client'
import { DEAD_QUEUE, parseBrokerUrl, queueName, RETRY_QUEUE, SEND_QUEUE } from '../../src/brokers/parse-broker-url.js'
import { startPrivateRabbitmq } from '../support/services/private-rabbitmq.js'
import { startPrivateRedis } from '../support/services/private-redis.js'
import type { BrokerServer } from './broker-storm.js'

/** The brokers that are servers. */
export const CARRIERS = ['bullmq', 'rabbitmq'] as const

/** Names of one's own on a server that others may use. */
export function withPrefix(server: string, prefix = `t${randomBytes(5).toString('hex')}`): string {
  const url = new URL(server)
  url.searchParams.set('prefix', prefix)
  return url.href
}

/** On a server that others use, a test leaves nothing behind. */
export async function removeTraces(brokerUrl: string | null): Promise<void> {
  if (brokerUrl === null) return
  const { name, url, prefix } = parseBrokerUrl(brokerUrl)
  if (name === 'bullmq') {
    const client = new Redis(url)
    const keys = await client.keys(`postrider:${prefix}.*`)
    if (keys.length > 0) await client.del(keys)
    client.disconnect()
    return
  }
  const connection = new Connection(url)
  for (const queue of [SEND_QUEUE, RETRY_QUEUE, DEAD_QUEUE]) await connection.queueDelete(queueName(prefix, queue))
  await connection.close()
}

/** A server of the test's own, to be killed, that is not running yet. */
export async function privateServer(
  name: (typeof CARRIERS)[number],
): Promise<BrokerServer & { dispose(): Promise<void> }> {
  if (name === 'rabbitmq') {
    const server = await startPrivateRabbitmq()
    await server.kill()
    return server
  }
  const server = await startPrivateRedis()
  await server.kill()
  return {
    ...server,
    async forget() {
      const client = new Redis(server.url)
      await client.flushall()
      client.disconnect()
    },
  }
}
