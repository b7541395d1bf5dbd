import { inject } from 'vitest'
import { askServiceDesk } from './service-desk.js'

/**
 * The URL of a Redis shared by the whole run, and perhaps with the developer: use keys and prefixes of your own, and
 * never flush. A test that wants to kill its Redis takes `startPrivateRedis`.
 */
export function redis(): Promise<string> {
  return askServiceDesk(inject('serviceDeskUrl'), 'redis')
}

/** The URL of a RabbitMQ shared in the same way: use queue names of your own. */
export function rabbitmq(): Promise<string> {
  return askServiceDesk(inject('serviceDeskUrl'), 'rabbitmq')
}
