import { describe, expect, it } from 'vitest'
import type { NewAction } from '../../src/domain/action.js'
import { PostriderError } from '../../src/errors.js'
import { newAction, openKernel } from '../support/kernel.js'
import { DATABASE_KINDS } from '../support/test-database.js'

const refused: [string, Partial<NewAction>, RegExp][] = [
  ['no type', { type: '' }, /type must not be empty/],
  ['no key', { dedupeKey: '' }, /dedupeKey must have 1 to 512 characters/],
  ['a key of 513 characters', { dedupeKey: 'k'.repeat(513) }, /dedupeKey must have 1 to 512 characters/],
  ['a key with a NUL', { dedupeKey: 'a\0b' }, /dedupeKey must not contain a NUL/],
  ['a lane that is no id', { laneId: 'newsletter' }, /laneId must be a UUID/],
  ['an enrollment that is no id', { enrollmentId: 'x' }, /enrollmentId must be a UUID/],
  ['a node without enrollment', { nodeId: 'n1' }, /nodeId needs an enrollmentId/],
  ['no date', { runAt: new Date('never') }, /runAt is not a valid date/],
  ['no expiry', { expiresAt: new Date(Number.NaN) }, /expiresAt is not a valid date/],
  ['a NUL in the payload', { payload: { text: 'a\0b' } }, /payload contains a NUL/],
  ['half a character in the payload', { payload: { text: '\ud800' } }, /payload/],
  ['half a character in the key', { dedupeKey: 'k\ud800' }, /dedupeKey/],
  ['a NUL in the type', { type: 'a\0b' }, /type/],
]

describe.each(DATABASE_KINDS)('on %s', (kind) => {
  const kernel = openKernel(kind)

  it('refuses what it cannot keep, says why, and writes nothing of the call', async () => {
    for (const [what, wrong, words] of refused) {
      const error = await kernel.schedule([newAction(), newAction(wrong)]).catch((reason: unknown) => reason)
      expect(error, what).toBeInstanceOf(PostriderError)
      expect(error, what).toMatchObject({ code: 'action_invalid', message: expect.stringMatching(words) as string })
    }
    expect(await kernel.count('scheduled_actions')).toBe(0)
    expect(await kernel.count('ready_actions')).toBe(0)
  })

  it('names the action that is wrong by its key', async () => {
    await expect(kernel.schedule([newAction({ dedupeKey: 'order-7', type: '' })])).rejects.toThrow('"order-7"')
  })

  it.each([512, 1])('takes a key of %i characters', async (length) => {
    await kernel.one({ dedupeKey: 'é'.repeat(length) })
    expect((await kernel.claim()).actions[0]!.dedupeKey).toBe('é'.repeat(length))
  })

  it('keeps any payload that JSON can say', async () => {
    const payload = { text: '"\\\u2028 é 😀', list: [1, 1.5, null, true, { deep: [] }], empty: '' }
    await kernel.one({ payload })
    expect((await kernel.claim()).actions[0]!.payload).toEqual(payload)
  })
})
