import { expect, test } from 'vitest'
import { acquireService, type ServiceKind } from './services/acquire-service.js'
import { rabbitmq, redis } from './services/shared-brokers.js'
import { answersRabbitmq } from './services/rabbitmq-probe.js'
import { answersRedis } from './services/redis-probe.js'

test('a server named in the environment comes before the one at the usual place', async () => {
  const { url } = await acquireService(carrierPigeon({ reachable: ['named', 'usual'] }), { TEST_PIGEON_URL: 'named' })
  expect(url).toBe('named')
})

test('a server that is named but cannot be used is an error, even if another could', async () => {
  const acquiring = acquireService(carrierPigeon({ reachable: ['usual'] }), { TEST_PIGEON_URL: 'named' })
  await expect(acquiring).rejects.toThrow('The Pigeon named by TEST_PIGEON_URL cannot be used: it is asleep.')
})

test('a server at the usual place is used, and not stopped afterwards', async () => {
  const kind = carrierPigeon({ reachable: ['usual'] })
  const service = await acquireService(kind, {})
  await service.release()
  expect(service.url).toBe('usual')
  expect(kind.disposals).toBe(0)
})

test.each([{ reachable: [] }, { reachable: ['usual'], environment: { TEST_SERVICES: 'private' } }])(
  'otherwise a private one is started, and stopped afterwards: $environment',
  async ({ reachable, environment }) => {
    const kind = carrierPigeon({ reachable })
    const service = await acquireService(kind, environment ?? {})
    await service.release()
    expect(service.url).toBe('private')
    expect(kind.disposals).toBe(1)
  },
)

test('every file that asks is given the same Redis and the same RabbitMQ, and they answer', async () => {
  const [redisUrl, again, rabbitmqUrl] = await Promise.all([redis(), redis(), rabbitmq()])
  expect(again).toBe(redisUrl)
  expect(await answersRedis(redisUrl)).toBe(true)
  expect(await answersRabbitmq(rabbitmqUrl)).toBe(true)
})

function carrierPigeon({ reachable }: { reachable: string[] }): ServiceKind & { disposals: number } {
  const kind = {
    name: 'Pigeon',
    variable: 'TEST_PIGEON_URL',
    usualUrls: ['usual'],
    objection: async (url: string) => (reachable.includes(url) ? null : 'it is asleep'),
    startPrivate: async () => ({
      url: 'private',
      dispose: async () => {
        kind.disposals += 1
      },
    }),
    disposals: 0,
  }
  return kind
}
