import { describe, expect, it } from 'vitest'
import { runCampaignBatch } from '../../src/operations/run-campaign-batch.js'
import { silent } from '../support/kernel.js'
import { DATABASE_KINDS } from '../support/test-database.js'
import { openCampaigns, sumOf, WORKSPACE } from './campaign-fixture.js'

describe.each(DATABASE_KINDS)('on %s', (kind) => {
  const fixture = openCampaigns(kind)
  const db = () => fixture.mail.mail.context.db

  /** So many turns one after the other, nobody sending: how many were planned in each, and the wait after the last. */
  async function takeTurns(id: string, turns: number, batchesAhead: number) {
    const planned: number[] = []
    let waitMs: number | null = 0
    for (let turn = 0; turn < turns; turn++) {
      const before = (await fixture.progress(id)).campaign.planned
      waitMs = await db().transaction((tx) =>
        runCampaignBatch(
          tx,
          { workspaceId: WORKSPACE, laneId: id },
          { log: silent, batchesAhead, random: Math.random },
        ),
      )
      const { campaign, counts } = await fixture.progress(id)
      expect(sumOf(counts)).toBe(counts.audience)
      planned.push(campaign.planned - before)
    }
    return { planned, waitMs }
  }
  async function launched(people: number, input: Parameters<typeof fixture.draft>[1]) {
    const { id: list } = await fixture.list(people)
    const id = await fixture.draft(list, input)
    await fixture.launch(id)
    return id
  }

  it('first a batch, so that the first emails go out soon, then all there is room for, then nothing', async () => {
    const id = await launched(100, { batchSize: 10 })
    const { planned, waitMs } = await takeTurns(id, 4, 6)
    expect(planned).toEqual([10, 50, 0, 0])
    expect(waitMs).toBeGreaterThan(0)
  })

  it('a batch when there is room for less, so that no turn plans one or two', async () => {
    const id = await launched(100, { batchSize: 10 })
    await takeTurns(id, 2, 6)
    // Seven leave: what is ready is 53 of 60.
    await db().query(
      `update postrider.scheduled_actions set state = 'done'
       where id in (select id from postrider.scheduled_actions where lane_id = $1 and type = 'send' limit 7)`,
      [id],
    )
    expect((await takeTurns(id, 2, 6)).planned).toEqual([10, 0])
  })

  it('no more than two thousand or one batch, however much room there is', async () => {
    const id = await launched(2_700, { batchSize: 500 })
    expect((await takeTurns(id, 3, Number.POSITIVE_INFINITY)).planned).toEqual([500, 2_000, 200])
    const wide = await launched(2_700, { batchSize: 2_500 })
    expect((await takeTurns(wide, 2, Number.POSITIVE_INFINITY)).planned).toEqual([2_500, 200])
  })

  it('what an hourly limit allows, whatever there is room for', async () => {
    const id = await launched(100, { batchSize: 10, hourlyLimit: 240 })
    const { planned, waitMs } = await takeTurns(id, 2, 6)
    expect(planned).toEqual([4, 0])
    expect(waitMs).toBeGreaterThan(50_000)
  })
})
