import { describe, expect, it } from 'vitest'
import { upsertContacts } from '../../src/db/contacts.js'
import { insertList, joinList } from '../../src/db/lists.js'
import { insertSequence } from '../../src/db/sequences.js'
import { insertTemplate } from '../../src/db/templates.js'
import { DEFAULT_WORKSPACE, newId, showId } from '../../src/id.js'
import { createCampaign } from '../../src/operations/campaigns.js'
import { DATABASE_KINDS } from '../support/test-database.js'
import { openApi } from './api-fixture.js'

describe.each(DATABASE_KINDS)('looking ahead through the API, on %s', (kind) => {
  const api = openApi(kind)

  async function draft({ bulk = false } = {}): Promise<string> {
    const { context } = api.mail
    const { db } = context
    const [listId, templateId, sequenceId] = [newId(), newId(), newId()]
    await insertList(db, DEFAULT_WORKSPACE, listId, { name: `List ${listId}`, description: null })
    const rows = ['ada', 'bob', 'cy'].map((name) => `${name}@example.com`)
    const contacts = await upsertContacts(
      db,
      DEFAULT_WORKSPACE,
      rows.map((address) => ({ address, foldedAddress: address, name: null, attributes: {}, timezone: null })),
    )
    await joinList(
      db,
      listId,
      contacts.map(({ id }) => id),
    )
    await insertTemplate(db, DEFAULT_WORKSPACE, templateId, `T ${templateId}`, {
      subject: 'Hi',
      text: 'Hi',
      html: null,
    })
    const send = { type: 'send', templateId, subject: null, reply: false } as const
    await insertSequence(db, DEFAULT_WORKSPACE, sequenceId, `S ${sequenceId}`, {
      start: 'one',
      nodes: [
        { ...send, id: 'one', delayMs: 0, next: 'two' },
        { ...send, id: 'two', delayMs: 172_800_000, next: null },
      ],
    })
    const input = bulk ? { templateId } : { sequenceId }
    return showId('cmp', (await createCampaign(context, DEFAULT_WORKSPACE, { name: 'Ahead', listId, ...input })).id)
  }
  const look = (id: string, query = '') => api.call(`GET /api/campaigns/${id}/simulate${query}`)

  it('answers with days, the first emails, and what it takes for granted', async () => {
    const id = await draft()
    const { status, body } = await look(id, '?days=5&limit=2')
    expect(status).toBe(200)
    expect(body).toMatchObject({ object: 'simulation', campaign_id: id, timezone: 'UTC', total: 6, beyond: 0 })
    expect(body.truncated).toBe(true)
    expect(body.days).toHaveLength(5)
    const [today] = body.days
    expect(today).toMatchObject({ day: body.from.slice(0, 10), by_step: [{ step: 1, emails: today.emails }] })
    expect(today.by_sender).toEqual([{ sender_id: expect.stringMatching(/^snd_/), emails: today.emails }])
    expect(body.emails).toHaveLength(2)
    expect(body.emails[0]).toMatchObject({ step: 1, contact_id: expect.stringMatching(/^ctc_/) })
    expect(body.emails[0].at <= body.emails[1].at).toBe(true)
    expect(body.assumptions.join(' ')).toMatch(/is a draft.*Nobody answers.*are dice/)
    const whole = await look(id)
    expect(whole.body).toMatchObject({ truncated: false, total: 6 })
    expect(whole.body.days).toHaveLength(14)
    expect((await look(id, '?days=1')).body.beyond).toBeGreaterThanOrEqual(3)
    expect((await look(id, '?timezone=Asia/Tokyo')).body.timezone).toBe('Asia/Tokyo')
  })

  it('shows a bulk campaign that keeps to no pace as going out at once', async () => {
    const { body } = await look(await draft({ bulk: true }), '?days=1')
    expect(body).toMatchObject({ total: 3, beyond: 0, days: [{ emails: 3, by_step: [] }] })
    expect(body.emails.map(({ step }: { step: unknown }) => step)).toEqual([null, null, null])
  })

  it('goes on for whoever does not wait, and gives the same answer in the end', async () => {
    const id = await draft()
    const whole = await look(id, '?days=5&limit=2')
    expect(whole.body).toMatchObject({ complete: true, progress: 1 })
    const seen: { complete: boolean; progress: number; emails: unknown[] }[] = []
    do seen.push((await look(id, '?days=5&limit=2&within_ms=1')).body)
    while (!seen.at(-1)!.complete)
    for (const { progress, emails } of seen.slice(0, -1)) {
      expect([progress >= 0 && progress <= 1, emails]).toEqual([true, []])
    }
    const { from: _from, emails: _emails, ...rest } = whole.body
    expect(seen.at(-1)).toMatchObject(rest)
    // Whoever asks the same a moment later has the same answer.
    expect((await look(id, '?days=5&limit=2&within_ms=1')).body).toEqual(seen.at(-1))
    const missing = await look(showId('cmp', newId()), '?within_ms=5000')
    expect(missing.body.code).toBe('campaign_not_found')
  })

  it.each([
    ['?within_ms=0', 'within_ms', /whole number from 1 to 10000/],
    ['?days=0', 'days', /whole number from 1 to 366/],
    ['?days=367', 'days', /whole number from 1 to 366/],
    ['?days=two', 'days', /whole number/],
    ['?limit=1001', 'limit', /whole number from 0 to 1000/],
    ['?limit=-1', 'limit', /whole number from 0 to 1000/],
    ['?timezone=Mars/Olympus', 'timezone', /is not a timezone/],
    ['?day=3', 'day', /did you mean days/],
  ])('refuses %s', async (query, name, detail) => {
    const { status, body } = await look(await draft(), query)
    expect(status).toBe(422)
    expect(JSON.stringify(body.errors[0])).toContain(name)
    expect(body.errors[0].detail).toMatch(detail)
  })

  it('knows no campaign that is not there', async () => {
    expect((await look(showId('cmp', newId()))).body.code).toBe('campaign_not_found')
  })
})
