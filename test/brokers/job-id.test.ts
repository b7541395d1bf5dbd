import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { encodeJobId } from '../../src/brokers/job-id.js'
import { newId } from '../../src/id.js'
import { until } from '../support/until.js'
import { openNamed } from './broker-kinds.js'
import { CARRIERS } from './storm-servers.js'

const WORKSPACE = newId()
const key = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 512 }).filter((text) => !text.includes('\0'))
const AWKWARD = ['1', '0', 'a:b', 'a:b:c', ':', 'a.b', '%', '%3A', 'é', '\u{1F4EE}', ' ', 'x'.repeat(512), '-1', '1e3']

describe('the job id of a key', () => {
  test('is another one for every other key, workspace and publication', () => {
    fc.assert(
      fc.property(key, key, fc.nat(), fc.nat(), (a, b, m, n) => {
        const [one, other] = [encodeJobId(WORKSPACE, a, String(m)), encodeJobId(WORKSPACE, b, String(n))]
        expect(one === other).toBe(a === b && m === n)
        expect(encodeJobId(newId(), a, String(m))).not.toBe(one)
      }),
    )
  })

  test('is short, has no colon and is no number', () => {
    fc.assert(
      fc.property(key, fc.bigInt({ min: 1n, max: 2n ** 63n - 1n }), (text, position) => {
        const id = encodeJobId(WORKSPACE, text, String(position))
        expect(Buffer.byteLength(id)).toBeLessThanOrEqual(255)
        expect(id).toMatch(/^[^:]+$/)
        expect(id).not.toMatch(/^\d+$/)
      }),
    )
  })
})

describe.each(CARRIERS)('on a real %s', (name) => {
  let opened: Awaited<ReturnType<typeof openNamed>>
  beforeAll(async () => {
    opened = await openNamed(name)
    await until('it answers', () => opened.broker.isUp())
  })
  afterAll(() => opened.dispose())

  test('every key is taken and comes back', async () => {
    const keys = [...AWKWARD, ...fc.sample(key, 60)]
    const hints = keys.map((text, i) => ({
      actionId: newId(),
      key: text,
      jobId: encodeJobId(WORKSPACE, text, String(i)),
      type: 'send',
      rank: 0 as const,
      delayMs: 0,
    }))
    await opened.broker.publish(hints)
    const heard = new Map<string, string>()
    opened.broker.consume(10, async (message) => void heard.set(message.actionId, message.key))
    await until('all came', () => heard.size === hints.length)
    expect(hints.map(({ actionId }) => heard.get(actionId))).toEqual(keys)
  })
})
