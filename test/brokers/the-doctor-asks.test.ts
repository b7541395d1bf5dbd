import { describe, expect, test } from 'vitest'
import { examineBroker } from '../../src/cli/doctor/examine-broker.js'
import { silent } from '../support/kernel.js'
import { findFreePort } from '../support/services/free-port.js'
import { sharedBrokerUrl } from './broker-kinds.js'
import { CARRIERS, removeTraces } from './storm-servers.js'

test('without a broker the doctor is content', async () => {
  expect(await examineBroker({ brokerUrl: null }, silent)).toMatchObject({ subject: 'broker', verdict: 'ok' })
})

describe.each(CARRIERS)('about %s the doctor', (name) => {
  test('says that it answers and how much it holds', async () => {
    const brokerUrl = await sharedBrokerUrl(name)
    expect(await examineBroker({ brokerUrl }, silent)).toMatchObject({
      verdict: 'ok',
      text: expect.stringContaining('holds 0 hints'),
    })
    await removeTraces(brokerUrl)
  })

  test('warns when it does not answer, and never shows its password', async () => {
    const scheme = name === 'bullmq' ? 'redis' : 'amqp'
    const brokerUrl = `${scheme}://user:hidden@127.0.0.1:${await findFreePort()}`
    const { verdict, text } = await examineBroker({ brokerUrl }, silent)
    expect(verdict).toBe('warning')
    expect(text).toMatch(/does not answer: check BROKER_URL/)
    expect(text).not.toContain('hidden')
  })
})
