import type { ServiceKind } from './acquire-service.js'
import { startPrivateRabbitmq } from './private-rabbitmq.js'
import { answersRabbitmq } from './rabbitmq-probe.js'

export const rabbitmqKind: ServiceKind = {
  name: 'RabbitMQ',
  variable: 'TEST_AMQP_URL',
  usualUrls: ['amqp://guest:guest@127.0.0.1:5672'],
  objection: async (url) => ((await answersRabbitmq(url)) ? null : 'it does not accept an AMQP connection'),
  startPrivate: () => startPrivateRabbitmq(),
}
