import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import { startPrivateRedis } from './services/private-redis.js'
import { answersRedis } from './services/redis-probe.js'

test('a private Redis answers, can be killed and started again, and leaves nothing behind', async () => {
  const redis = await startPrivateRedis()
  expect(await answersRedis(redis.url)).toBe(true)
  await redis.kill()
  expect(await answersRedis(redis.url)).toBe(false)
  await redis.start()
  expect(await answersRedis(redis.url)).toBe(true)
  await redis.dispose()
  expect(await answersRedis(redis.url)).toBe(false)
  expect(existsSync(redis.directory)).toBe(false)
})
