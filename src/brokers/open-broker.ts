import type { Log } from '../log.js'
import type { Broker } from './broker.js'
import { openBullmq } from './bullmq.js'
import { parseBrokerUrl } from './parse-broker-url.js'
import { openRabbitmq } from './rabbitmq.js'

/** Opens the broker a URL names. It need not be there yet: it is used from when it answers. */
export function openBroker(text: string, log: Log): Promise<Broker> {
  const { name, url, prefix } = parseBrokerUrl(text)
  return (name === 'bullmq' ? openBullmq : openRabbitmq)({ url, prefix, log })
}
