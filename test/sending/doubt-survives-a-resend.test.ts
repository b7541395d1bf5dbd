import { describe, expect, it } from 'vitest'
import { armActions } from '../../src/db/arm-actions.js'
import { claimActions, FIRST_LANE } from '../../src/db/claim-actions.js'
import { cancelLane } from '../../src/db/lanes.js'
import { promoteActions } from '../../src/db/promote-actions.js'
import { settleActions } from '../../src/db/settle-actions.js'
import { insertSuppressions } from '../../src/db/suppressions.js'
import { sweepCanceledLane } from '../../src/db/sweep-canceled-lane.js'
import { toEmail } from '../../src/http/email-json.js'
import { DEFAULT_WORKSPACE, newId } from '../../src/id.js'
import { recordEvent } from '../../src/operations/record-event.js'
import { DATABASE_KINDS } from '../support/test-database.js'
import { letter, openMail, SECOND } from './mail-fixture.js'
import { heldUnder, settledUnder } from '../support/held-under.js'

const MAY_HAVE_BEEN_TAKEN = 'An earlier hand-over was never answered, so it may have been taken.'
const HOUR = 3_600 * SECOND

describe.each(DATABASE_KINDS)('on %s', (kind) => {
  const fixture = openMail(kind)
  const db = () => fixture.mail.context.db

  const laneOf = async (id: string) => {
    const { actionId } = await fixture.delivery(id)
    const { rows } = await db().query<{ lane_id: string }>(
      'select lane_id from postrider.scheduled_actions where id = $1',
      [actionId],
    )
    return rows[0]!.lane_id
  }

  /** Taken by a server that never said so, and waiting to be sent again because a policy or a person said so. */
  const choosers = {
    'by its policy': async (options: object = {}) => {
      const id = await fallSilent({ ...options, onUncertain: 'resend' })
      await fixture.shiftClock(30 * SECOND)
      return id
    },
    'by a person': async (options: object = {}) => {
      const id = await fallSilent(options)
      await fixture.mail.emails.resolve(id, 'resend')
      return id
    },
  }
  const fallSilent = async (options: object) => {
    fixture.answer('dot', { do: 'drop' }, 1)
    const { id } = await fixture.mail.emails.send({ ...letter(), ...options })
    await fixture.drain()
    await fixture.mail.tick(0)
    fixture.server.script = () => undefined
    return id
  }

  /** In the hands of a worker that has not armed it yet. */
  const hold = async () => {
    await promoteActions(db(), 10)
    const token = newId()
    const { actions } = await claimActions(db(), { token, worker: 'w', limit: 1, leaseMs: HOUR, cursor: FIRST_LANE })
    return { token, id: actions[0]!.id }
  }

  /** Everything that ends an email without a yes, and what the reason must say of it. */
  const ends: Record<string, { readonly says: string; readonly end: (id: string) => Promise<unknown> }> = {
    'refused for good': {
      says: '5.6.0 no thanks',
      end: async () => {
        fixture.answer('dot', '554 5.6.0 no thanks')
        fixture.server.takesAtDot = false
        await fixture.drain()
      },
    },
    'its recipient unknown': {
      says: '5.1.1 no such user',
      end: async () => {
        fixture.answer('rcpt', '550 5.1.1 no such user')
        await fixture.drain()
      },
    },
    'deferred until the attempts are used up': {
      says: '4.2.1 later',
      end: async () => {
        fixture.answer('rcpt', '450 4.2.1 later')
        for (let round = 0; round < 6; round++) {
          await fixture.drain()
          await fixture.shiftClock(600 * SECOND)
        }
      },
    },
    suppressed: {
      says: 'suppressed',
      end: async () => {
        await insertSuppressions(db(), DEFAULT_WORKSPACE, ['ada@example.com'], {
          scope: 'all',
          reason: 'manual',
          detail: 'asked to',
        })
        await fixture.drain()
      },
    },
    'called off while it waits': {
      says: 'It was called off.',
      end: (id) => fixture.mail.emails.cancel(id),
    },
    'called off in a worker’s hands': {
      says: 'It was called off.',
      end: async (id) => {
        const held = await hold()
        await fixture.mail.emails.cancel(id)
        expect(await armActions(db(), heldUnder(held.token, [held.id]))).toEqual(new Set())
        // Its worker gives back what it believes to hold: that must not send what was called off.
        expect(
          await settleActions(db(), settledUnder(held.token, [{ id: held.id, outcome: { kind: 'release' } }])),
        ).toEqual(new Set())
      },
    },
    'canceled as an action': {
      says: 'It was called off (the sequence stopped).',
      end: async (id) => {
        const { actionId } = await fixture.delivery(id)
        expect(await fixture.mail.actions.cancel({ ids: [actionId] }, 'the sequence stopped')).toEqual([actionId])
      },
    },
    'its lane canceled': {
      says: 'Its lane was canceled.',
      end: async (id) => {
        await promoteActions(db(), 10)
        await cancelLane(db(), DEFAULT_WORKSPACE, await laneOf(id))
        const claimed = await claimActions(db(), {
          token: newId(),
          worker: 'w',
          limit: 1,
          leaseMs: HOUR,
          cursor: FIRST_LANE,
        })
        expect(claimed).toMatchObject({ actions: [], canceled: 1, expired: 0 })
      },
    },
    'its lane canceled and swept': {
      says: 'Its lane was canceled.',
      end: async (id) => {
        const lane = await laneOf(id)
        await cancelLane(db(), DEFAULT_WORKSPACE, lane)
        expect(await sweepCanceledLane(db(), lane)).toBe(1)
      },
    },
  }

  describe.each(Object.entries(choosers))('sent again %s', (_, sendAgain) => {
    it.each(Object.entries(ends))(
      'and %s, it stays in doubt, and is not sent once more',
      async (_name, { says, end }) => {
        const id = await sendAgain()
        expect(await fixture.delivery(id)).toMatchObject({ state: 'pending', inDoubt: true })
        await end(id)
        const ended = await fixture.delivery(id)
        expect(ended).toMatchObject({ status: 'uncertain', inDoubt: true })
        expect(ended.reason).toContain(says)
        expect(ended.reason!.endsWith(MAY_HAVE_BEEN_TAKEN)).toBe(true)
        fixture.server.script = () => undefined
        fixture.server.takesAtDot = true
        for (let round = 0; round < 2; round++) {
          await fixture.shiftClock(HOUR)
          await fixture.drain()
        }
        expect(await fixture.delivery(id)).toMatchObject({ status: 'uncertain', stateAt: ended.stateAt })
        expect(fixture.server.taken).toHaveLength(1)
      },
    )

    it('and over before it went, it stays in doubt', async () => {
      const id = await sendAgain({ expiresAt: new Date(Date.now() + HOUR) })
      await fixture.shiftClock(2 * HOUR)
      await fixture.drain()
      const ended = await fixture.delivery(id)
      expect(ended).toMatchObject({ status: 'uncertain', reason: `Its time was over. ${MAY_HAVE_BEEN_TAKEN}` })
      await fixture.shiftClock(HOUR)
      await fixture.drain()
      expect(await fixture.delivery(id)).toEqual(ended)
      expect(fixture.server.taken).toHaveLength(1)
    })

    it('and taken, it is sent, and says that it may have arrived twice', async () => {
      const id = await sendAgain()
      await fixture.drain()
      const email = await fixture.get(id)
      expect(toEmail(email, null)).toMatchObject({
        status: 'sent',
        in_doubt: true,
        deliveries: [{ in_doubt: true }],
        explain: expect.stringContaining('may have arrived twice') as string,
      })
      expect(fixture.server.taken).toHaveLength(2)
    })

    it('and in doubt for good, it is settled by an event, by a person, or sent once more by one', async () => {
      const id = await sendAgain()
      await fixture.mail.emails.cancel(id)
      await fixture.mail.emails.resolve(id, 'resend')
      await fixture.drain()
      expect((await fixture.get(id)).status).toBe('sent')
      const other = await sendAgain()
      await fixture.mail.emails.cancel(other)
      const { messageId } = await fixture.get(other)
      expect(
        await recordEvent(fixture.mail.context, DEFAULT_WORKSPACE, { type: 'delivered', messageId }),
      ).toMatchObject({ settled: 1 })
      expect((await fixture.get(other)).status).toBe('sent')
    })
  })

  describe('the answer to the first hand-over, come late', () => {
    /** Armed by a worker that lost its lease and sent again by a person. */
    const begin = async () => {
      const { id } = await fixture.mail.emails.send(letter())
      const held = await hold()
      await armActions(db(), heldUnder(held.token, [held.id]))
      await fixture.shiftClock(2 * HOUR)
      await fixture.mail.tick(0)
      await fixture.mail.emails.resolve(id, 'resend')
      return { id, tell: (outcome: keyof typeof ANSWERS) => tell(held, outcome) }
    }
    const ANSWERS = {
      done: { kind: 'done' },
      failed: { kind: 'failed', reason: { code: 'message', text: '554 no' } },
      /** It never began: the answer to its arm was lost. */
      release: { kind: 'release' },
    } as const
    const tell = async (held: { id: string; token: string }, answer: keyof typeof ANSWERS) => {
      const outcomes = settledUnder(held.token, [{ id: held.id, outcome: ANSWERS[answer] }])
      return (await settleActions(db(), outcomes)).size
    }

    it('changes nothing while it waits to be sent again: somebody decided', async () => {
      const email = await begin()
      for (const answer of ['done', 'failed', 'release'] as const) expect(await email.tell(answer)).toBe(0)
      expect((await fixture.get(email.id)).status).toBe('scheduled')
    })

    it('settles what ended in doubt, if it is a yes', async () => {
      const email = await begin()
      await fixture.mail.emails.cancel(email.id)
      expect(await email.tell('failed')).toBe(0)
      expect(await email.tell('release')).toBe(0)
      expect((await fixture.get(email.id)).status).toBe('uncertain')
      expect(await email.tell('done')).toBe(1)
      expect(await fixture.delivery(email.id)).toMatchObject({ status: 'sent', inDoubt: true, reason: null })
    })

    it('of what was never sent again is believed as before', async () => {
      const { id } = await fixture.mail.emails.send(letter())
      const held = await hold()
      await armActions(db(), heldUnder(held.token, [held.id]))
      await fixture.shiftClock(2 * HOUR)
      await fixture.mail.tick(0)
      expect((await fixture.get(id)).status).toBe('uncertain')
      expect(await tell({ id: held.id, token: newId() }, 'done')).toBe(0)
      expect(await tell(held, 'failed')).toBe(1)
      expect(await fixture.delivery(id)).toMatchObject({ status: 'failed', inDoubt: false, reason: '554 no' })
    })
  })
})
