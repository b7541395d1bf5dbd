import { describe, expect, it } from 'vitest'
import { deleteContact } from '../../src/db/contacts.js'
import { insertOptOut } from '../../src/db/opt-outs.js'
import { insertSuppressions } from '../../src/db/suppressions.js'
import { cancelCampaign, pauseCampaign, resumeCampaign, retryCampaign } from '../../src/operations/steer-campaign.js'
import { announcedRandom } from '../support/seeded-random.js'
import { DATABASE_KINDS } from '../support/test-database.js'
import { openCampaigns, sumOf, WORKSPACE } from './campaign-fixture.js'

/** Everything that can happen to an email of a campaign, in any order, on a server that refuses some. */
describe.each(DATABASE_KINDS)('on %s', (kind) => {
  const fixture = openCampaigns(kind)
  const { mail } = fixture

  it('whatever happens, at every moment, and agree with the emails counted one by one', async () => {
    const { seed, pick } = announcedRandom(`counts on ${kind}`)
    const { context } = mail.mail
    const list = await fixture.list(60)
    const id = await fixture.draft(list.id)
    const replies = ['250 ok', '250 ok', '250 ok', '451 4.3.0 later', '550 5.1.1 unknown', '554 5.7.1 no']
    mail.server.script = (point) => (point === 'rcpt' ? { do: 'reply', text: pick(replies) } : undefined)
    await fixture.launch(id)

    const emails = (status: 'failed' | 'retry_scheduled' | 'scheduled' | 'uncertain') =>
      mail.mail.emails.list({ campaignId: id, status, limit: 100 })
    const decide = async (status: 'failed' | 'retry_scheduled', by: 'retry' | 'cancel') => {
      const [email] = await emails(status)
      if (email) await mail.mail.emails[by](email.id)
    }
    const steps: (() => Promise<unknown>)[] = [
      () => mail.mail.tick(50),
      () => mail.shiftClock(400_000),
      () => insertOptOut(context.db, list.id, pick(list.people).address, 'link'),
      () => deleteContact(context.db, WORKSPACE, pick(list.people).id),
      () =>
        insertSuppressions(context.db, WORKSPACE, [pick(list.people).address], {
          scope: pick(['all', 'marketing'] as const),
          reason: 'manual',
          detail: null,
        }),
      () => pauseCampaign(context, WORKSPACE, id).catch(ignoreConflict),
      () => resumeCampaign(context, WORKSPACE, id).catch(ignoreConflict),
      () => retryCampaign(context, WORKSPACE, id, 'tests').catch(ignoreConflict),
      () => decide('failed', 'retry'),
      () => decide('retry_scheduled', 'cancel'),
    ]
    const check = async () => {
      const { counts } = await fixture.progress(id)
      expect(sumOf(counts), `TEST_SEED=${seed}`).toBe(counts.audience)
      expect(Math.min(...Object.values(counts)), `TEST_SEED=${seed}`).toBeGreaterThanOrEqual(0)
      return counts
    }
    for (let step = 0; step < 60; step++) {
      // Beside the work, so that every look falls somewhere in the middle of it.
      await Promise.all([pick(steps)(), check()])
      const counts = await check()
      const states = await fixture.states(id)
      expect(counts.sent, `TEST_SEED=${seed}`).toBe(states['done'] ?? 0)
      expect(counts.failed, `TEST_SEED=${seed}`).toBe(states['failed'] ?? 0)
      expect(counts.canceled, `TEST_SEED=${seed}`).toBe(states['canceled'] ?? 0)
    }
    await cancelCampaign(context, WORKSPACE, id).catch(ignoreConflict)
    await mail.drain()
    await check()
    const received = fixture.received()
    expect(new Set(received).size, `TEST_SEED=${seed}`).toBe(received.length)
  })
})

const ignoreConflict = (error: unknown) => {
  if ((error as { code?: string }).code !== 'campaign_conflict') throw error
}
