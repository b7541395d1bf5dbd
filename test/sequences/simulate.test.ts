/* oxlint-disable unicorn/no-thenable -- the `then` of a branch is the name of a node: nothing can await it */
import { describe, expect, it } from 'vitest'
import { insertSuppressions } from '../../src/db/suppressions.js'
import { seededDice } from '../../src/domain/seeded-dice.js'
import { launchCampaign } from '../../src/operations/launch-campaign.js'
import { enrollNow } from '../../src/operations/launch-sequence.js'
import { runCampaignBatch } from '../../src/operations/run-campaign-batch.js'
import { cancelCampaign, pauseCampaign } from '../../src/operations/steer-campaign.js'
import { DATABASE_KINDS } from '../support/test-database.js'
import { DAY, HOUR, MINUTE, openSimulations, shown, START, WORKSPACE } from './simulate-fixture.js'

const OFFICE = {
  timezone: 'Europe/Paris',
  sendingDays: [1, 2, 3, 4, 5],
  startHour: 9,
  endHour: 17,
  dailyQuota: 40,
  gapMinSeconds: 60,
  gapMaxSeconds: 300,
}

const plans = (count: number) => Array.from({ length: count }, (_, i) => ({ plan: i % 3 === 0 ? 'pro' : 'free' }))

describe.each(DATABASE_KINDS)('looking ahead, on %s', (kind) => {
  const world = openSimulations(kind)
  const context = () => world.mail.mail.context
  const launch = async (id: string) => {
    world.dice = seededDice(id)
    let { remaining = 0 } = await launchCampaign(context(), WORKSPACE, id)
    // On a slow machine one request does not come to the end of the list.
    while (remaining > 0) ({ remaining } = await enrollNow(context(), WORKSPACE, id))
  }

  it('shows of a draft exactly what a launch then books, whoever is left out of it', async () => {
    const nodes = [
      await world.send('hello', 'rest'),
      { id: 'rest', type: 'wait', durationMs: HOUR, next: 'more' } as const,
      await world.send('more', 'last', 2 * DAY),
      await world.send('last', null, 3 * DAY),
    ]
    const sequenceId = await world.sequence(nodes)
    const senderIds = [await world.sender(OFFICE), await world.sender({ ...OFFICE, timezone: 'America/New_York' })]
    const { id: listId, people } = await world.list(plans(230))
    // Some have walked it in another campaign: in the turn that finds them, the others have been given their slots.
    const earlier = await world.list([{}])
    await context().db.query(`insert into postrider.list_members (list_id, contact_id) select $1, unnest($2::uuid[])`, [
      earlier.id,
      [people[5], people[120]],
    ])
    await launch(await world.campaign({ sequenceId, senderIds, listId: earlier.id }))
    await context().db.query(
      `insert into postrider.opt_outs (list_id, address, source) select $1, folded_address, 'api' from postrider.contacts where id = $2`,
      [listId, people[7]],
    )
    const banned = await context().db.query<{ address: string }>(
      `select folded_address as address from postrider.contacts where id = $1`,
      [people[9]],
    )
    await insertSuppressions(context().db, WORKSPACE, [banned.rows[0]!.address], {
      scope: 'all',
      reason: 'manual',
      detail: null,
    })

    const id = await world.campaign({ sequenceId, senderIds, listId })
    const before = await world.fingerprint()
    const seen = await world.look(id, { days: 60 })
    expect(await world.fingerprint()).toEqual(before)
    expect(await world.look(id, { days: 60 })).toEqual(seen)
    expect(seen).toMatchObject({ total: 3 * 226, beyond: 0 })
    expect(seen.assumptions.join('\n')).toMatch(
      /draft(?:.*\n)+2 people are left out.*\n2 people have been enrolled before/,
    )

    await launch(id)
    expect(await world.booked(id)).toEqual(shown(seen))
    expect(new Set(seen.emails.map(({ senderId }) => senderId))).toEqual(new Set(senderIds))
    // And of what is launched, the same: it stands at its times.
    const again = await world.look(id, { days: 60 })
    expect(shown(again)).toEqual(shown(seen))
    expect(again.days).toEqual(seen.days)
  })

  it('shows every email of branches and timeouts at the second at which it then goes out', async () => {
    const nodes = [
      {
        id: 'asks',
        type: 'branch',
        condition: { attribute: 'plan', is: 'equals', value: 'pro' },
        then: 'pro',
        else: 'free',
      } as const,
      await world.send('pro', 'clicks'),
      { id: 'clicks', type: 'wait_for', event: 'clicked', timeoutMs: DAY, onEvent: null, onTimeout: 'again' } as const,
      await world.send('again', 'asks-again', HOUR),
      { id: 'asks-again', type: 'branch', condition: { event: 'clicked' }, then: null, else: 'last' } as const,
      await world.send('free', 'rest', 30 * MINUTE),
      { id: 'rest', type: 'wait', durationMs: 2 * DAY, next: 'clicks-too' } as const,
      {
        id: 'clicks-too',
        type: 'wait_for',
        event: 'opened',
        timeoutMs: HOUR,
        onEvent: null,
        onTimeout: 'last',
      } as const,
      await world.send('last', null, HOUR),
    ]
    const sequenceId = await world.sequence(nodes)
    const senderIds = [
      await world.sender({ ...OFFICE, dailyQuota: 5 }),
      await world.sender({ ...OFFICE, dailyQuota: 4 }),
    ]
    const id = await world.campaign({ sequenceId, senderIds, listId: (await world.list(plans(12))).id })
    const seen = await world.look(id)
    expect(seen).toMatchObject({ total: 4 * 3 + 8 * 2, beyond: 0 })
    await launch(id)

    const midway = seen.emails[10]!.at
    let looked = false
    for (let clock = START.getTime(); ;) {
      const { rows } = await context().db.query<{ next: Date | null; done: number }>(
        `select min(run_at) filter (where state = 'pending') as next,
           count(*) filter (where type = 'send' and state = 'done')::int as done
         from postrider.scheduled_actions where lane_id = $1`,
        [id],
      )
      const { next, done } = rows[0]!
      if (!next) break
      if (!looked && next.getTime() > midway) {
        looked = true
        const left = await world.look(id)
        expect(left).toMatchObject({ total: seen.total - done, beyond: 0 })
        expect(left.emails.every(({ at }) => at >= clock)).toBe(true)
      }
      await world.mail.shiftClock(Math.max(next.getTime() - clock, 0))
      clock = Math.max(clock, next.getTime())
      await world.mail.drain()
    }
    expect(looked).toBe(true)
    // To the second: a busy machine takes some milliseconds from the slot to the word that it went out.
    const toSecond = (emails: readonly { readonly at: string }[]) =>
      emails.map((email) => ({ ...email, at: `${email.at.slice(0, 19)}Z` }))
    expect(toSecond(await world.booked(id, 'state_at'))).toEqual(toSecond(shown(seen)))
  })

  it('counts what comes after the last day instead of following it', async () => {
    const nodes = [
      await world.send('first', 'waits'),
      {
        id: 'waits',
        type: 'wait_for',
        event: 'clicked',
        timeoutMs: 5 * DAY,
        onEvent: null,
        onTimeout: 'second',
      } as const,
      await world.send('second', null),
    ]
    const sequenceId = await world.sequence(nodes)
    const senderIds = [await world.sender({ ...OFFICE, dailyQuota: 10 })]
    const id = await world.campaign({ sequenceId, senderIds, listId: (await world.list(plans(150))).id })
    const whole = await world.look(id, { days: 100 })
    expect(whole).toMatchObject({ total: 300, beyond: 0 })
    for (const days of [1, 3, 9]) {
      const part = await world.look(id, { days, limit: 5 })
      expect(part.total + part.beyond).toBe(300)
      expect(part.days).toEqual(whole.days.slice(0, days))
      expect(part.emails).toEqual(whole.emails.slice(0, 5))
    }
  })

  it('says that a campaign is paused, and shows it as if it were resumed now; what is late finds another slot', async () => {
    const nodes = [await world.send('first', 'second'), await world.send('second', null, 2 * DAY)]
    const sequenceId = await world.sequence(nodes)
    const senderIds = [await world.sender({ ...OFFICE, dailyQuota: 6 })]
    const id = await world.campaign({ sequenceId, senderIds, listId: (await world.list(plans(6))).id })
    await launch(id)
    await pauseCampaign(context(), WORKSPACE, id)
    await world.mail.shiftClock(7 * DAY)
    const seen = await world.look(id)
    expect(seen.assumptions[0]).toBe('The campaign is paused: as if it were resumed now.')
    expect(seen).toMatchObject({ total: 12, beyond: 0 })
    expect(seen.emails.every(({ at }) => at >= START.getTime() + 7 * DAY)).toBe(true)
    expect(Math.max(...seen.days.map(({ emails }) => emails))).toBe(6)
    const firsts = new Map(seen.emails.filter(({ step }) => step === 1).map(({ contactId, at }) => [contactId, at]))
    for (const { contactId, at } of seen.emails.filter(({ step }) => step === 2))
      expect(at - firsts.get(contactId)!).toBeGreaterThanOrEqual(2 * DAY)

    await cancelCampaign(context(), WORKSPACE, id)
    expect(await world.look(id)).toMatchObject({
      total: 0,
      beyond: 0,
      assumptions: ['The campaign is canceled: nothing of it goes out any more.'],
    })
  })

  it('starts a draft at its time, and leaves out what would come after its end', async () => {
    const nodes = [await world.send('first', 'second'), await world.send('second', null, 2 * DAY)]
    const sequenceId = await world.sequence(nodes)
    const senderIds = [await world.sender(null)]
    const listId = (await world.list(plans(3))).id
    const scheduledAt = new Date(START.getTime() + 3 * DAY)
    const id = await world.campaign({ sequenceId, senderIds, listId, scheduledAt })
    const seen = await world.look(id)
    expect(seen.total).toBe(6)
    expect(seen.emails[0]!.at).toBe(scheduledAt.getTime())
    expect((await world.look(id, { days: 2 })).beyond).toBe(6)
    const expiresAt = new Date(START.getTime() + 4 * DAY)
    const short = await world.campaign({ sequenceId, senderIds, listId, scheduledAt, expiresAt })
    const cut = await world.look(short)
    expect(cut).toMatchObject({ total: 3, beyond: 0 })
    expect(cut.assumptions).toContain("3 people are cut off by the campaign's expires_at before the end.")
  })

  it('shows the batches of a bulk campaign within the window and the quota, or all at once without a pace', async () => {
    const { id: listId } = await world.list(plans(25))
    const templateId = ((await world.send('any', null)) as { templateId: string }).templateId
    const senderId = await world.sender({ ...OFFICE, dailyQuota: 12 })
    const paced = await world.campaign({ templateId, senderId, listId, followPace: true })
    const seen = await world.look(paced, { days: 3 })
    expect(seen.days.map(({ day, emails }) => [day, emails])).toEqual([
      ['2026-11-17', 12],
      ['2026-11-18', 12],
      ['2026-11-19', 1],
    ])
    expect(
      seen.emails.map(({ at }) => new Date(at).toISOString()).filter((at, i, all) => all.indexOf(at) === i),
    ).toEqual(['2026-11-17T08:00:00.000Z', '2026-11-18T08:00:00.000Z', '2026-11-19T08:00:00.000Z'])
    expect(await world.look(paced, { days: 2 })).toMatchObject({ total: 24, beyond: 1 })
    const free = await world.campaign({ templateId, senderId, listId })
    expect((await world.look(free)).days[0]).toMatchObject({ day: '2026-11-17', emails: 25 })
    const slow = await world.campaign({ templateId, senderId, listId, hourlyLimit: 1 })
    expect((await world.look(slow, { days: 1, timezone: 'UTC' })).total).toBe(16)

    // Planned today, and not gone out: they are booked, and counted once.
    await launch(paced)
    const options = { log: context().log, batchesAhead: Infinity, random: () => 0 }
    await context().db.transaction((tx) => runCampaignBatch(tx, { workspaceId: WORKSPACE, laneId: paced }, options))
    expect(await world.look(paced, { days: 3 })).toMatchObject({ total: 25, days: seen.days })
  })
})
