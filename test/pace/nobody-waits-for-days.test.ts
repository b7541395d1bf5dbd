import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { lockSender } from '../../src/db/lock-sender.js'
import { settleActions } from '../../src/db/settle-actions.js'
import { lockSlotBook, saveSlotBook } from '../../src/db/slot-book.js'
import type { Settlement } from '../../src/domain/action.js'
import { takeSlot } from '../../src/domain/slots.js'
import { newId } from '../../src/id.js'
import { bookBulk } from '../../src/operations/book-bulk.js'
import { type PaceCheck, recheckPace } from '../../src/operations/recheck-pace.js'
import { takeTurn } from '../../src/operations/take-turn.js'
import { openTestDatabase, type TestDatabase } from '../support/test-database.js'
import { until } from '../support/until.js'
import { openPaceWorld } from './pace-world.js'

const AT = '2026-10-23T10:00:00.000Z'
const TODAY = '2026-10-23'

/**
 * What one transaction holds while another wants it, brought about on purpose. Only where there are several sessions: on
 * the embedded database one transaction comes after the other.
 */
describe('on PostgreSQL', () => {
  let database: TestDatabase
  let world: ReturnType<typeof openPaceWorld>
  beforeAll(async () => {
    database = await openTestDatabase('PostgreSQL')
    world = openPaceWorld(database)
  })
  afterAll(() => database.close())
  beforeEach(() => world.goTo(AT))

  it('a launch for two senders and a settling for both go on', async () => {
    const senders = [await world.sender({}), await world.sender({})].toSorted((a, b) => (a.id < b.id ? -1 : 1))
    const [one, other] = [senders[0]!, senders[1]!]
    const [bulk, step] = [await world.leased(one, TODAY), await world.leased(other, TODAY, AT)]
    const leaseToken = newId()
    await database.db.query(
      `update postrider.scheduled_actions set state = 'armed', lease_token = $2 where id = any ($1::uuid[])`,
      [[bulk.actionId, step.actionId], leaseToken],
    )
    const settlements: Settlement[] = [
      { id: bulk.actionId, leaseToken, outcome: { kind: 'done', booking: { senderId: one.id, day: TODAY } } },
      {
        id: step.actionId,
        leaseToken,
        outcome: { kind: 'done', booking: { senderId: other.id, day: TODAY, keepsGap: true } },
      },
    ]
    let settling: Promise<ReadonlySet<string>> | undefined
    await database.db.transaction(async (tx) => {
      await lockSlotBook(tx, one, new Date(AT))
      settling = settleActions(database.db, settlements)
      settling.catch(() => undefined)
      await until('the settling waits for the day', world.isWaiting)
      await lockSlotBook(tx, other, new Date(AT))
    })
    expect((await settling!).size).toBe(2)
  })

  it.each(['a batch of a campaign', 'an email that is late'])(
    'beside a slot book nobody books: %s finds what the book gave away',
    async (who) => {
      const paris = await world.sender({ dailyQuota: 1 })
      // So long ago that the book does not hold that day.
      const late = await world.leased(paris, '2026-10-01')
      const book = () =>
        who === 'an email that is late'
          ? recheckPace(database.db, paris, { ...late, bookedOn: '2026-10-01' })
          : database.db.transaction((tx) => bookBulk(tx, paris, 1))
      let booking: ReturnType<typeof book> | undefined
      await database.db.transaction(async (tx) => {
        // The day has no row yet that could be locked instead of the sender.
        const held = await lockSlotBook(tx, paris, new Date(AT))
        booking = book()
        await until('the other one waits', world.isWaiting)
        takeSlot(held, new Date(AT), Math.random)
        await saveSlotBook(tx, paris.id, held)
      })
      expect(await booking!).toMatchObject({ until: new Date('2026-10-24T07:00:00.000Z') })
      expect((await world.daysOf(paris)).get(TODAY)!.booked).toBe(1)
    },
  )

  it('a turn is judged by the time at which it has waited long enough, not by when it began to wait', async () => {
    const paris = await world.sender({ gapMinSeconds: 10, gapMaxSeconds: 10 })
    const email = await world.leased(paris, TODAY, AT)
    let turn: Promise<PaceCheck> | undefined
    await database.db.transaction(async (tx) => {
      await lockSender(tx, paris.id)
      turn = takeTurn(database.db, paris, { ...email, random: Math.random })
      await until('the turn waits', world.isWaiting)
      // One second short of the gap by now, and over it when the sender is let go.
      await tx.query(
        `update postrider.senders set turn_at = ${tx.now} + (clock_timestamp() - now()) - interval '9 s'
        where id = $1`,
        [paris.id],
      )
      await tx.query(`select pg_sleep(1.5)`)
    })
    expect(await turn!).toEqual({ kind: 'ok', day: TODAY })
  })
})
