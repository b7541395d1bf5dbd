import type { ServiceKind } from './acquire-service.js'
import { startPrivateRedis } from './private-redis.js'
import { answersRedis } from './redis-probe.js'

export const redisKind: ServiceKind = {
  name: 'Redis',
  variable: 'TEST_REDIS_URL',
  usualUrls: ['redis://127.0.0.1:6379'],
  objection: async (url) => ((await answersRedis(url)) ? null : 'it does not answer PING'),
  startPrivate: () => startPrivateRedis(),
}
