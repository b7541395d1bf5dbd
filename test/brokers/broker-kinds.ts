import { type Broker, BROKER_NAMES, type BrokerName } from '../../src/brokers/broker.js'
import { openBroker } from '../../src/brokers/open-broker.js'
import { createPostgresBroker } from '../../src/brokers/postgres.js'
import { silent } from '../support/kernel.js'
import { rabbitmq, redis } from '../support/services/shared-brokers.js'
import { removeTraces, withPrefix } from './storm-servers.js'

/** Every promise about brokers is kept by all of them: `describe.each(BROKER_NAMES)('%s', (name) => …)`. */
export const BROKERS = BROKER_NAMES

/** A URL of the shared server, with names of one's own; null for the database itself. */
export async function sharedBrokerUrl(name: BrokerName): Promise<string | null> {
  if (name === 'postgres') return null
  return withPrefix(await (name === 'bullmq' ? redis() : rabbitmq()))
}

/** A broker on names of its own; `dispose` also removes what it left on the server. */
export async function openNamed(name: BrokerName, onWake: () => void = () => undefined) {
  const url = await sharedBrokerUrl(name)
  const broker: Broker = url === null ? createPostgresBroker(onWake) : await openBroker(url, silent)
  const dispose = async () => {
    await broker.stopConsuming()
    await broker.close()
    await removeTraces(url)
  }
  return { broker, url, dispose }
}
