import { describe, expect, it } from 'vitest'
import { findAction, retryAction } from '../../src/db/actions.js'
import { cancelActions } from '../../src/db/cancel-actions.js'
import { cancelLane, configureLane, pauseLane, resumeLane } from '../../src/db/lanes.js'
import type { NewAction } from '../../src/domain/action.js'
import { PostriderError } from '../../src/errors.js'
import { DEFAULT_WORKSPACE, newId } from '../../src/id.js'
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
  ['no date', { runAt: new Date('never') }, /runAt must be a valid date/],
  ['a date of the year 10000', { runAt: new Date('+010000-01-01') }, /runAt must be a valid date/],
  ['no expiry', { expiresAt: new Date(Number.NaN) }, /expiresAt must be a valid date/],
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

  it('answers for ids that are none as for ids nobody has', async () => {
    expect(await findAction(kernel.db, DEFAULT_WORKSPACE, 'order-7')).toBeNull()
    await expect(retryAction(kernel.db, DEFAULT_WORKSPACE, 'order-7')).rejects.toMatchObject({
      code: 'action_not_found',
    })
    expect(await cancelActions(kernel.db, DEFAULT_WORKSPACE, { ids: ['order-7'] }, 'x')).toEqual([])
    expect(await cancelActions(kernel.db, DEFAULT_WORKSPACE, { enrollmentId: 'x' }, 'x')).toEqual([])
  })

  it('cancels for any reason that can be typed', async () => {
    const id = await kernel.one()
    expect(await cancelActions(kernel.db, DEFAULT_WORKSPACE, { ids: [id] }, 'a\0b')).toEqual([id])
    expect((await kernel.row(id)).reason).toBe('ab')
  })

  it('refuses a lane it cannot keep, and knows nothing of the lanes of others', async () => {
    const lane = newId()
    const configure = (weight: number, priority: number, id = lane) =>
      configureLane(kernel.db, DEFAULT_WORKSPACE, id, { weight, priority })
    await expect(configure(0, 0)).rejects.toMatchObject({ code: 'lane_invalid' })
    await expect(configure(1.5, 0)).rejects.toMatchObject({ code: 'lane_invalid' })
    await expect(configure(1, 101)).rejects.toMatchObject({ code: 'lane_invalid' })
    await expect(configure(1, 1, 'newsletter')).rejects.toMatchObject({ code: 'lane_invalid' })
    await configure(1, 1)
    const stranger = newId()
    for (const act of [pauseLane, resumeLane, cancelLane])
      await expect(act(kernel.db, stranger, lane)).rejects.toMatchObject({ code: 'lane_not_found' })
    expect(await resumeLane(kernel.db, DEFAULT_WORKSPACE, lane)).toEqual({ paused: false, canceled: false })
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
