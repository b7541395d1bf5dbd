import { describe, expect, it } from 'vitest'
import { deleteContact, upsertContacts } from '../../src/db/contacts.js'
import { joinList } from '../../src/db/lists.js'
import { FIRST_PAGE, pruneActions } from '../../src/db/prune-actions.js'
import { DEFAULT_SENDER, newId } from '../../src/id.js'
import { insertOptOut } from '../../src/db/opt-outs.js'
import { insertSuppressions } from '../../src/db/suppressions.js'
import { insertVersion, updateTemplate } from '../../src/db/templates.js'
import { launchCampaign } from '../../src/operations/launch-campaign.js'
import { changeSender } from '../../src/operations/senders.js'
import { retryCampaign } from '../../src/operations/steer-campaign.js'
import { DATABASE_KINDS } from '../support/test-database.js'
import { addresses, openCampaigns, sumOf, WORKSPACE } from './campaign-fixture.js'

describe.each(DATABASE_KINDS)('on %s', (kind) => {
  const fixture = openCampaigns(kind)
  const { mail } = fixture
  const db = () => mail.mail.context.db
  const suppress = (address: string, scope: 'all' | 'marketing') =>
    insertSuppressions(db(), WORKSPACE, [address], { scope, reason: 'manual', detail: null })

  it.each([1, 9, 10, 11, 30])('%i people in batches of 10 get one each', async (people) => {
    const list = await fixture.list(people)
    const id = await fixture.draft(list.id)
    await fixture.launch(id)
    await mail.drain()
    expect(fixture.received().toSorted()).toEqual(addresses(people).toSorted())
    const { campaign, counts, standstill } = await fixture.progress(id)
    expect(campaign).toMatchObject({ status: 'sent', planned: people })
    expect(counts).toMatchObject({ audience: people, sent: people })
    expect(sumOf(counts)).toBe(people)
    expect(standstill).toBeNull()
  })

  it('leaves out who opted out or is suppressed in any scope, and counts them', async () => {
    const list = await fixture.list(14)
    await insertOptOut(db(), list.id, 'p3@example.com', 'link')
    await suppress('p5@example.com', 'all')
    await suppress('p12@example.com', 'marketing')
    // Out for two reasons, counted once.
    await insertOptOut(db(), list.id, 'p12@example.com', 'link')
    const id = await fixture.draft(list.id)
    await fixture.launch(id)
    await mail.drain()
    const left = addresses(14).filter((to) => !['p3@example.com', 'p5@example.com', 'p12@example.com'].includes(to))
    expect(fixture.received().toSorted()).toEqual(left.toSorted())
    const { counts } = await fixture.progress(id)
    expect(counts).toMatchObject({ audience: 14, sent: 11, unsubscribed: 2, suppressed: 1 })
    expect(sumOf(counts)).toBe(14)
  })

  it('skips who opted out, was suppressed or was deleted between planning and sending', async () => {
    const list = await fixture.list(10)
    const id = await fixture.draft(list.id)
    await fixture.launch(id)
    await planOnly(id)
    const [unsubscribed, suppressed, removed, ...others] = list.people
    await insertOptOut(db(), list.id, unsubscribed!.address, 'one_click')
    await suppress(suppressed!.address, 'marketing')
    await deleteContact(db(), WORKSPACE, removed!.id)
    await mail.drain()
    expect(fixture.received().toSorted()).toEqual(others.map(({ address }) => address).toSorted())
    const { campaign, counts } = await fixture.progress(id)
    expect(campaign.status).toBe('sent')
    expect(counts).toMatchObject({ audience: 10, sent: 7, unsubscribed: 1, suppressed: 1, removed: 1 })
    expect(sumOf(counts)).toBe(10)
  })

  it('goes on past deleted contacts and takes in those who join behind the cursor’s place', async () => {
    const list = await fixture.list(25)
    const id = await fixture.draft(list.id)
    await fixture.launch(id)
    await planOnly(id)
    // The first batch is planned: one of it goes, one of the next goes, one joins at the end.
    await deleteContact(db(), WORKSPACE, list.people[9]!.id)
    await deleteContact(db(), WORKSPACE, list.people[10]!.id)
    const [late] = await upsertContacts(db(), WORKSPACE, [
      { address: 'late@example.com', foldedAddress: 'late@example.com', name: 'Late', attributes: {}, timezone: null },
    ])
    await joinList(db(), list.id, [late!.id])
    await mail.drain()
    const left = list.people.filter((_, i) => i !== 9 && i !== 10).map(({ address }) => address)
    expect(fixture.received().toSorted()).toEqual([...left, 'late@example.com'].toSorted())
    const { counts } = await fixture.progress(id)
    expect(counts).toMatchObject({ sent: 24, removed: 1, audience: 25 })
  })

  it('reaches nobody twice when its cursor is set back: the key of an email decides, not the place in the list', async () => {
    const list = await fixture.list(25)
    const id = await fixture.draft(list.id)
    await fixture.launch(id)
    await planOnly(id)
    await db().query(`update postrider.campaigns set last_cursor = null where id = $1`, [id])
    await mail.drain()
    expect(fixture.received().toSorted()).toEqual(addresses(25).toSorted())
    const { campaign, counts } = await fixture.progress(id)
    expect(campaign).toMatchObject({ status: 'sent', planned: 25 })
    expect(counts).toMatchObject({ audience: 25, sent: 25 })
  })

  it('keeps its counts when its old emails are forgotten', async () => {
    const list = await fixture.list(12)
    const id = await fixture.draft(list.id)
    await fixture.launch(id)
    await planOnly(id)
    await insertOptOut(db(), list.id, list.people[4]!.address, 'link')
    await mail.drain()
    const before = (await fixture.progress(id)).counts
    expect(before).toMatchObject({ sent: 11, unsubscribed: 1 })
    await mail.shiftClock(1_000)
    const { pruned } = await pruneActions(db(), { after: FIRST_PAGE, before: newId(), retentionMs: 0, limit: 1_000 })
    expect(pruned).toBeGreaterThanOrEqual(11)
    expect(await fixture.states(id)).toEqual({ skipped: 1 })
    expect((await fixture.progress(id)).counts).toEqual(before)
  })

  it('is launched once, however many launch it at the same moment', async () => {
    const list = await fixture.list(12)
    const id = await fixture.draft(list.id)
    const other = await mail.another()
    const launches = await Promise.allSettled(
      [mail.mail, other, mail.mail, other].map(({ context }) => launchCampaign(context, WORKSPACE, id)),
    )
    expect(launches.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    for (const launch of launches)
      if (launch.status === 'rejected') expect(launch.reason).toMatchObject({ code: 'campaign_conflict' })
    await Promise.all([mail.drain(), other.tick(20_000)])
    expect(fixture.received().toSorted()).toEqual(addresses(12).toSorted())
  })

  it('sends what the template was when it was launched', async () => {
    const list = await fixture.list(3)
    const templateId = await fixture.template('First', 'first')
    const id = await fixture.draft(list.id, { templateId })
    await fixture.launch(id)
    await updateTemplate(db(), WORKSPACE, templateId, { name: 'Changed', version: 2 })
    await insertVersion(db(), templateId, 2, { subject: 'Second', text: 'second', html: null })
    await mail.drain()
    for (const { raw } of mail.server.taken) expect(raw.toString()).toContain('Subject: First')
  })

  it('goes out as whom it was launched as: its Message-IDs stay what they are', async () => {
    const list = await fixture.list(2)
    const id = await fixture.draft(list.id)
    mail.answer('rcpt', '451 4.3.0 later', 1)
    await fixture.launch(id)
    await mail.drain()
    await changeSender(mail.mail.context, WORKSPACE, DEFAULT_SENDER, { address: 'new@elsewhere.test' })
    await mail.shiftClock(61_000)
    await mail.drain()
    expect(fixture.received().toSorted()).toEqual(addresses(2).toSorted())
    for (const { raw } of mail.server.taken) expect(raw.toString()).toMatch(/^Message-ID: <[^@]+@sender\.test>/m)
    for (const email of await mail.mail.emails.list({ campaignId: id }))
      expect(email).toMatchObject({
        from: { address: 'tests@sender.test' },
        messageId: expect.stringMatching(/@sender\.test>$/) as string,
      })
  })

  it('is sent only when everybody is settled, and what failed can be started over', async () => {
    const list = await fixture.list(6)
    const id = await fixture.draft(list.id)
    mail.answer('rcpt', '451 4.7.1 later', 1)
    await fixture.launch(id)
    await mail.drain()
    const waiting = await fixture.progress(id)
    expect(waiting.campaign.status).toBe('running')
    expect(waiting.counts).toMatchObject({ sent: 5, retryScheduled: 1 })
    expect(waiting.standstill?.code).toBe('waiting_for_retries')
    expect(waiting.lastError?.text).toContain('later')
    mail.answer('rcpt', '554 5.7.1 no', 1)
    await mail.shiftClock(61_000)
    await mail.drain()
    await mail.shiftClock(5_000)
    await mail.drain()
    const over = await fixture.progress(id)
    expect(over.campaign.status).toBe('sent')
    expect(over.counts).toMatchObject({ sent: 5, failed: 1 })
    const { retried } = await retryCampaign(mail.mail.context, WORKSPACE, id, 'tests')
    expect(retried).toBe(1)
    expect((await fixture.progress(id)).campaign.status).toBe('running')
    await mail.drain()
    expect((await fixture.progress(id)).counts).toMatchObject({ sent: 6, failed: 0 })
    expect((await fixture.progress(id)).campaign.status).toBe('sent')
    expect(fixture.received().toSorted()).toEqual(addresses(6).toSorted())
  })

  it('is under way again when one of its failed emails is retried by itself', async () => {
    const list = await fixture.list(2)
    const id = await fixture.draft(list.id)
    mail.answer('rcpt', '554 5.7.1 no', 1)
    await fixture.launch(id)
    await mail.drain()
    expect((await fixture.progress(id)).campaign.status).toBe('sent')
    const [failed] = await mail.mail.emails.list({ campaignId: id, status: 'failed' })
    await mail.mail.emails.retry(failed!.id)
    expect((await fixture.progress(id)).campaign.status).toBe('running')
    await mail.drain()
    expect((await fixture.progress(id)).campaign.status).toBe('sent')
    expect((await fixture.progress(id)).counts).toMatchObject({ sent: 2, failed: 0 })
  })

  it('fails for a contact the template needs more of, and goes on', async () => {
    const list = await fixture.list(3)
    const templateId = await fixture.template('Hello', '{{ contact.city }}')
    await db().query(`update postrider.contacts set attributes = '{"city": "Bern"}'`)
    const id = await fixture.draft(list.id, { templateId })
    await fixture.launch(id)
    await db().query(`update postrider.contacts set attributes = '{}' where id = $1`, [list.people[1]!.id])
    await mail.drain()
    const { counts, lastError } = await fixture.progress(id)
    expect(counts).toMatchObject({ sent: 2, failed: 1 })
    expect(lastError?.text).toContain('contact.city')
  })

  /** Lets the campaign plan one batch, as a worker would that dies right after. */
  async function planOnly(id: string): Promise<void> {
    const worker = await mail.another({
      handlers: { send: { kind: 'hand-over', retryPolicy: 'standard', handOver: async () => ({ kind: 'release' }) } },
      concurrency: 1,
    })
    await db().query(`update postrider.campaigns set hourly_limit = 600 where id = $1`, [id])
    await worker.tick(300)
    await db().query(`update postrider.campaigns set hourly_limit = null where id = $1`, [id])
    await worker.stop()
    expect((await fixture.progress(id)).campaign.planned).toBe(10)
    await mail.shiftClock(61_000)
  }
})
