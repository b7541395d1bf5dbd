import { describe, expect, it } from 'vitest'
import { upsertContacts } from '../../src/db/contacts.js'
import { insertList, joinList } from '../../src/db/lists.js'
import { newId } from '../../src/index.js'
import { DATABASE_KINDS } from '../support/test-database.js'
import { until } from '../support/until.js'
import { openCampaigns, sumOf, WORKSPACE } from './campaign-fixture.js'

const PEOPLE = 300
const BATCH = 50
const CONCURRENCY = 20

describe.each(DATABASE_KINDS)('on %s', (kind) => {
  const fixture = openCampaigns(kind, { concurrency: CONCURRENCY })
  const { mail } = fixture

  /** A list of its own people, told apart by their domain. */
  async function listOf(domain: string): Promise<string> {
    const { db } = mail.mail.context
    const id = newId()
    await insertList(db, WORKSPACE, id, { name: domain, description: null })
    const addresses = Array.from({ length: PEOPLE }, (_, i) => `p${i}@${domain}`)
    const contacts = await upsertContacts(
      db,
      WORKSPACE,
      addresses.map((address) => ({ address, foldedAddress: address, name: 'P', attributes: {}, timezone: null })),
    )
    await joinList(
      db,
      id,
      contacts.map((contact) => contact.id),
    )
    return id
  }

  it('two launched together advance in step, and a single email overtakes both', async () => {
    const ids: string[] = []
    for (const domain of ['a.test', 'b.test']) ids.push(await fixture.draft(await listOf(domain), { batchSize: BATCH }))
    for (const id of ids) await fixture.launch(id)
    await mail.mail.start()
    await until('the campaigns are under way', () => fixture.received().length > 100, { withinMs: 60_000, everyMs: 2 })
    const before = fixture.received().length
    await mail.mail.emails.send({ to: 'single@c.test', subject: 'Now', text: 'Now' })
    await until(
      'both are sent',
      async () => {
        const all = await Promise.all(ids.map((id) => fixture.progress(id)))
        for (const { counts } of all) expect(sumOf(counts)).toBe(PEOPLE)
        return all.every(({ campaign }) => campaign.status === 'sent')
      },
      { withinMs: 60_000 },
    )
    const received = fixture.received()
    expect(received).toHaveLength(2 * PEOPLE + 1)

    let lead = 0
    let furthest = 0
    for (const to of received) {
      lead += to.endsWith('@a.test') ? 1 : to.endsWith('@b.test') ? -1 : 0
      furthest = Math.max(furthest, Math.abs(lead))
    }
    expect(furthest).toBeLessThanOrEqual(BATCH)

    // It waits for no more than what was on the wire, and what came off the wire while it was being claimed.
    const overtaken = received.length - 1 - received.indexOf('single@c.test')
    console.info(`sent after the single email was accepted: ${before} before it, ${overtaken} behind it`)
    expect(overtaken).toBeGreaterThan(100)
  })

  it('a single email finds a place while bulk holds all it may have', async () => {
    const id = await fixture.draft(await listOf('slow.test'), { batchSize: BATCH })
    // The server never answers bulk: every place that bulk may take is taken, and stays so.
    mail.server.script = (point, words) =>
      point === 'rcpt' && words.includes('slow.test') ? { do: 'hang' } : undefined
    await fixture.launch(id)
    await mail.mail.start()
    await until('bulk is stuck', async () => (await fixture.progress(id)).counts.sending >= CONCURRENCY - 2, {
      withinMs: 60_000,
    })
    const { id: single } = await mail.mail.emails.send({ to: 'single@c.test', subject: 'Now', text: 'Now' })
    await until('the single email is sent', async () => (await mail.get(single)).status === 'sent')
    expect(fixture.received()).toEqual(['single@c.test'])
  })
})
