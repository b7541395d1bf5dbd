import { describe, expect, it } from 'vitest'
import { lockCampaign } from '../../src/db/campaigns.js'
import { campaignBatchKey } from '../../src/domain/keys.js'
import { DEFAULT_SENDER } from '../../src/id.js'
import { launchCampaign } from '../../src/operations/launch-campaign.js'
import { changeSender, holdSender, releaseSender } from '../../src/operations/senders.js'
import { cancelCampaign, pauseCampaign, resumeCampaign, retryCampaign } from '../../src/operations/steer-campaign.js'
import { DATABASE_KINDS } from '../support/test-database.js'
import { until } from '../support/until.js'
import { addresses, openCampaigns, sumOf, WORKSPACE } from './campaign-fixture.js'

const HOUR_MS = 3_600_000

describe.each(DATABASE_KINDS)('on %s', (kind) => {
  const fixture = openCampaigns(kind)
  const { mail } = fixture
  const context = () => mail.mail.context
  const code = async (id: string) => (await fixture.progress(id)).standstill?.code ?? null

  it('while it is paused, with what was queued already, and goes on where it was', async () => {
    const list = await fixture.list(25)
    const id = await fixture.draft(list.id)
    await fixture.launch(id)
    let paused: Promise<unknown> | undefined
    mail.server.script = () => {
      paused ??= pauseCampaign(context(), WORKSPACE, id)
      return undefined
    }
    await mail.drain()
    await paused
    await mail.drain()
    const sent = fixture.received().length
    expect(sent).toBeLessThan(25)
    expect(await code(id)).toBe('paused')
    const { counts } = await fixture.progress(id)
    expect(counts).toMatchObject({ sent, audience: 25 })
    expect(sumOf(counts)).toBe(25)
    await mail.shiftClock(HOUR_MS)
    await mail.drain()
    expect(fixture.received()).toHaveLength(sent)
    await resumeCampaign(context(), WORKSPACE, id)
    await mail.drain()
    expect(fixture.received().toSorted()).toEqual(addresses(25).toSorted())
    expect((await fixture.progress(id)).campaign.status).toBe('sent')
  })

  it('when it is paused between a batch’s own look at the lane and its hold on the campaign', async () => {
    const list = await fixture.list(12)
    const id = await fixture.draft(list.id)
    await fixture.launch(id)
    // The embedded database has one session: nobody can come in between there.
    if (kind === 'PostgreSQL') {
      let working: Promise<void> | undefined
      await context().db.transaction(async (tx) => {
        await lockCampaign(tx, WORKSPACE, id)
        working = mail.drain()
        await until('the batch waits for the campaign', async () => {
          const { rows } = await mail.database.db.query<{ waiting: number }>(
            `select count(*)::int as waiting from pg_stat_activity
             where datname = current_database() and wait_event_type = 'Lock'`,
          )
          return rows[0]!.waiting > 0
        })
        await tx.query(`update postrider.campaigns set status = 'paused' where id = $1`, [id])
        await tx.query(`update postrider.lanes set paused_at = now() where id = $1`, [id])
      })
      await working
      expect(await code(id)).toBe('paused')
    } else await pauseCampaign(context(), WORKSPACE, id)
    expect(fixture.received()).toHaveLength(0)
    await mail.shiftClock(5_000)
    await resumeCampaign(context(), WORKSPACE, id)
    await mail.drain()
    await mail.shiftClock(5_000)
    await mail.drain()
    expect(fixture.received().toSorted()).toEqual(addresses(12).toSorted())
  })

  it('for good when it is canceled, and says how many never went out', async () => {
    const list = await fixture.list(25)
    const id = await fixture.draft(list.id)
    await fixture.launch(id)
    let canceled: Promise<unknown> | undefined
    mail.server.script = () => {
      canceled ??= cancelCampaign(context(), WORKSPACE, id)
      return undefined
    }
    await mail.drain()
    await canceled
    await mail.drain()
    const { campaign, counts } = await fixture.progress(id)
    expect(campaign.status).toBe('canceled')
    expect(counts.sent).toBe(fixture.received().length)
    expect(counts.sent).toBeLessThan(25)
    expect(sumOf(counts)).toBe(25)
    await expect(resumeCampaign(context(), WORKSPACE, id)).rejects.toMatchObject({ code: 'campaign_conflict' })
  })

  it('while its sender is paused, and goes on when that is resumed', async () => {
    const list = await fixture.list(5)
    const id = await fixture.draft(list.id)
    await fixture.launch(id)
    await holdSender(context(), WORKSPACE, DEFAULT_SENDER, 'the domain moves')
    await mail.drain()
    expect(fixture.received()).toHaveLength(0)
    expect(await code(id)).toBe('sender_paused')
    await releaseSender(context(), WORKSPACE, DEFAULT_SENDER)
    await mail.drain()
    expect(fixture.received()).toHaveLength(5)
  })

  it('is not launched while its sender is paused', async () => {
    const list = await fixture.list(1)
    const id = await fixture.draft(list.id)
    await holdSender(context(), WORKSPACE, DEFAULT_SENDER, 'the domain moves')
    await expect(fixture.launch(id)).rejects.toMatchObject({
      code: 'campaign_not_ready',
      problems: [{ path: ['sender'] }],
    })
  })

  it('until its time', async () => {
    const list = await fixture.list(3)
    const id = await fixture.draft(list.id)
    await launchCampaign(context(), WORKSPACE, id, { scheduledAt: new Date(Date.now() + HOUR_MS) })
    await mail.drain()
    expect(await code(id)).toBe('waiting_for_start')
    await mail.shiftClock(HOUR_MS + 1_000)
    await mail.drain()
    expect(fixture.received()).toHaveLength(3)
    expect((await fixture.progress(id)).campaign.status).toBe('sent')
  })

  it('within its hourly limit, in any hour', async () => {
    const list = await fixture.list(40)
    const id = await fixture.draft(list.id, { hourlyLimit: 20 })
    await fixture.launch(id)
    const sentAt: number[] = []
    for (let minute = 0; minute <= 125; minute += 1) {
      await mail.drain()
      while (sentAt.length < fixture.received().length) sentAt.push(minute)
      if (minute === 1) {
        const { standstill, estimatedEnd, now } = await fixture.progress(id)
        expect(standstill?.code).toBe('hourly_limit')
        // However fast the first part went: what is left needs its hours.
        const hours = (estimatedEnd!.getTime() - now.getTime()) / HOUR_MS
        expect(hours).toBeCloseTo((40 - sentAt.length) / 20, 5)
      }
      if (sentAt.length === 40) break
      await mail.shiftClock(60_000)
    }
    expect(sentAt).toHaveLength(40)
    for (const from of sentAt)
      expect(sentAt.filter((at) => at >= from && at < from + 60).length).toBeLessThanOrEqual(20)
  })

  it('outside its sender’s window, and over its quota', async () => {
    const list = await fixture.list(30)
    // The database's clock is moved to a Monday at noon, UTC.
    const now = new Date()
    const monday = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate() + 14 - now.getUTCDay() + 1, 12)
    await mail.shiftClock(monday - now.getTime())
    await changeSender(context(), WORKSPACE, DEFAULT_SENDER, {
      pace: { timezone: 'UTC', sendingDays: [1, 2, 3, 4, 5], startHour: 9, endHour: 17, dailyQuota: 12 },
    })
    const id = await fixture.draft(list.id, { followPace: true })
    await fixture.launch(id)
    await mail.drain()
    expect(fixture.received()).toHaveLength(12)
    expect((await fixture.progress(id)).standstill).toMatchObject({
      code: 'quota_used',
      until: new Date(monday + 21 * HOUR_MS),
    })
    await mail.shiftClock(10 * HOUR_MS)
    await mail.drain()
    expect(fixture.received()).toHaveLength(12)
    expect(await code(id)).toBe('outside_window')
    await mail.shiftClock(11 * HOUR_MS)
    await mail.drain()
    expect(fixture.received()).toHaveLength(24)
    await mail.shiftClock(24 * HOUR_MS)
    await mail.drain()
    expect(fixture.received().toSorted()).toEqual(addresses(30).toSorted())
    expect((await fixture.progress(id)).campaign.status).toBe('sent')
  })

  it('with the reason when its planning fails, and can be retried', async () => {
    const list = await fixture.list(12)
    const id = await fixture.draft(list.id)
    await fixture.launch(id)
    const { db } = context()
    await db.query('alter table postrider.opt_outs rename to away')
    await mail.drain()
    const { standstill } = await fixture.progress(id)
    expect(standstill).toMatchObject({ code: 'planning_interrupted', until: expect.any(Date) as Date })
    expect(standstill?.text).toMatch(/^Planning failed for now: .*opt_outs.* It goes on at .* UTC\.$/)
    for (let attempt = 0; attempt < 9; attempt++) {
      await mail.drain()
      await mail.shiftClock(25 * HOUR_MS)
    }
    await db.query('alter table postrider.away rename to opt_outs')
    expect(fixture.received()).toHaveLength(0)
    expect(await code(id)).toBe('planning_failed')
    await retryCampaign(context(), WORKSPACE, id, 'tests')
    await mail.drain()
    expect(fixture.received().toSorted()).toEqual(addresses(12).toSorted())
  })

  it('has one batch action, whatever is done to it', async () => {
    const list = await fixture.list(12)
    const id = await fixture.draft(list.id)
    await fixture.launch(id)
    await Promise.all([
      mail.drain(),
      retryCampaign(context(), WORKSPACE, id, 'a'),
      retryCampaign(context(), WORKSPACE, id, 'b'),
    ])
    await mail.drain()
    const { rows } = await context().db.query(`select state from postrider.scheduled_actions where dedupe_key = $1`, [
      campaignBatchKey(id),
    ])
    expect(rows).toEqual([{ state: 'done' }])
    expect(fixture.received()).toHaveLength(12)
  })
})
