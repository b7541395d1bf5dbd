import { PostriderError } from '../errors.js'
import type { BrokerName } from './broker.js'

/** `redis://…` is BullMQ, `amqp://…` RabbitMQ. `?prefix=shop` keeps two installations on one server apart. */
export interface BrokerUrl {
  readonly name: Exclude<BrokerName, 'postgres'>
  /** As its client wants it, without the prefix. */
  readonly url: string
  readonly prefix: string | null
}

const NAMES = {
  'redis:': 'bullmq',
  'rediss:': 'bullmq',
  'amqp:': 'rabbitmq',
  'amqps:': 'rabbitmq',
} as const satisfies Record<string, BrokerName>

export function parseBrokerUrl(text: string): BrokerUrl {
  // The sentence never repeats the URL, which may have a password in it.
  const refuse = (why: string) => new PostriderError('setting_invalid', `BROKER_URL cannot be used. ${why}`)
  if (!URL.canParse(text)) throw refuse('It must be a URL like redis://host:6379 or amqp://user:password@host:5672.')
  const url = new URL(text)
  const name = NAMES[url.protocol as keyof typeof NAMES]
  if (!name) throw refuse('It must begin with redis://, rediss://, amqp:// or amqps://.')
  if (!url.hostname) throw refuse('It names no host.')
  const prefix = url.searchParams.get('prefix')
  if (prefix !== null && !/^[\w-]{1,50}$/.test(prefix))
    throw refuse('Its prefix must be 1 to 50 letters, digits, hyphens and underscores.')
  url.searchParams.delete('prefix')
  return { name, url: url.href, prefix }
}

export const SEND_QUEUE = 'email.dispatcher.send'
export const RETRY_QUEUE = 'email.dispatcher.retry'
export const DEAD_QUEUE = 'email.dispatcher.dead'

export const queueName = (prefix: string | null, name: string): string => (prefix === null ? name : `${prefix}.${name}`)
