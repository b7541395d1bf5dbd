import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import { startPrivateRabbitmq } from './services/private-rabbitmq.js'
import { answersRabbitmq } from './services/rabbitmq-probe.js'

test('a private RabbitMQ lets its user in, can be killed and started again, and leaves nothing behind', async () => {
  const rabbitmq = await startPrivateRabbitmq()
  expect(await answersRabbitmq(rabbitmq.url)).toBe(true)
  expect(await answersRabbitmq(rabbitmq.url.replace('guest:guest', 'guest:wrong'))).toBe(false)
  await rabbitmq.kill()
  expect(await answersRabbitmq(rabbitmq.url)).toBe(false)
  await rabbitmq.start()
  expect(await answersRabbitmq(rabbitmq.url)).toBe(true)
  await rabbitmq.dispose()
  expect(await answersRabbitmq(rabbitmq.url)).toBe(false)
  expect(existsSync(rabbitmq.directory)).toBe(false)
})
