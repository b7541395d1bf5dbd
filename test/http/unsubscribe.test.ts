import { describe, expect, it } from 'vitest'
import { upsertContacts } from '../../src/db/contacts.js'
import { insertList, joinList } from '../../src/db/lists.js'
import { insertTemplate } from '../../src/db/templates.js'
import { campaignEmailKey } from '../../src/domain/keys.js'
import { DEFAULT_SENDER, DEFAULT_WORKSPACE, newId } from '../../src/id.js'
import { createLinkSigner } from '../../src/link-signer.js'
import { DATABASE_KINDS } from '../support/test-database.js'
import { type Api, openApi } from './api-fixture.js'

const FORM = 'application/x-www-form-urlencoded'
const sign = createLinkSigner(() => 'a secret of the tests')

interface Story {
  readonly token: string
  readonly listId: string
  readonly contactId: string
  readonly campaigns: readonly string[]
}

/** Somebody on a list that two campaigns go to, with an email waiting in each. */
async function begin(api: Api, address = 'Grace@Example.org'): Promise<Story> {
  const { db } = api.mail.context
  const [listId, templateId] = [newId(), newId()]
  await insertList(db, DEFAULT_WORKSPACE, listId, { name: `<b>News & more ${listId}`, description: null })
  await upsertContacts(db, DEFAULT_WORKSPACE, [
    { address, foldedAddress: address.toLowerCase(), name: 'Grace', attributes: {}, timezone: null },
  ])
  const { rows } = await db.query<{ id: string }>(`select id from postrider.contacts where folded_address = $1`, [
    address.toLowerCase(),
  ])
  const contactId = rows[0]!.id
  await joinList(db, listId, [contactId])
  await insertTemplate(db, DEFAULT_WORKSPACE, templateId, templateId, { subject: 'S', html: null, text: 'T' })
  const campaigns = [newId(), newId()]
  for (const id of campaigns) {
    await db.query(
      `insert into postrider.campaigns (id, workspace_id, name, status, list_id, template_id, template_version, sender_id,
         from_address, batch_size)
       values ($1, $2, 'C', 'running', $3, $4, 1, $5, 'c@example.com', 500)`,
      [id, DEFAULT_WORKSPACE, listId, templateId, DEFAULT_SENDER],
    )
    await plan(api, id, contactId)
  }
  return { token: sign.sign({ listId, contactId, campaignId: campaigns[0]!, address }), listId, contactId, campaigns }
}

const plan = (api: Api, campaignId: string, contactId: string, state = 'pending', inDoubt = false) =>
  api.mail.context.db.query(
    `insert into postrider.scheduled_actions (id, workspace_id, lane_id, type, dedupe_key, state, run_at, wake_at, lease_token, in_doubt, contact_id)
     values ($1, $2, $3, 'send', $4, $5, now() + '1 day', case $5 when 'pending' then now() + '1 day' end,
       case when $5 in ('leased', 'armed') then gen_random_uuid() end, $6, $7)`,
    [newId(), DEFAULT_WORKSPACE, campaignId, campaignEmailKey(campaignId, contactId), state, inDoubt, contactId],
  )

/** Everything a visit could change. */
async function everything(api: Api): Promise<unknown> {
  const { db } = api.mail.context
  const read = async (text: string) => (await db.query(text)).rows
  return [
    await read('select list_id, address, source from postrider.opt_outs order by 1, 2'),
    await read(
      'select dedupe_key, state, reason_code, lease_token is null as free from postrider.scheduled_actions order by 1',
    ),
    await read('select type, payload, email_id from postrider.events order by id'),
    await read('select count(*) from postrider.list_members'),
  ]
}

const states = async (api: Api) =>
  (
    await api.mail.context.db.query<{ state: string }>('select state from postrider.scheduled_actions order by id')
  ).rows.map(({ state }) => state)

const ask = (api: Api, method: string, token: string, body?: string | FormData, type = FORM) =>
  Promise.resolve(
    api.mail.fetch(
      new Request(`http://localhost/u/${token}`, {
        method,
        ...(body !== undefined && { body }),
        ...(typeof body === 'string' && { headers: { 'content-type': type } }),
      }),
    ),
  )

describe.each(DATABASE_KINDS)('the unsubscribe link, on %s', (kind) => {
  const api = openApi(kind)

  it('changes nothing when scanners follow it', async () => {
    const { token } = await begin(api)
    const before = await everything(api)
    for (const method of ['GET', 'HEAD', 'GET', 'HEAD']) expect((await ask(api, method, token)).status).toBe(200)
    for (const method of ['PUT', 'DELETE', 'PATCH', 'OPTIONS'])
      expect((await ask(api, method, token)).status).toBeGreaterThanOrEqual(400)
    expect(await everything(api)).toEqual(before)
  })

  it('shows a page of its own: which list, whose, one button, nothing from elsewhere', async () => {
    const { token, listId } = await begin(api)
    const response = await ask(api, 'GET', token)
    const html = await response.text()
    expect(html).toContain(`&lt;b&gt;News &amp; more ${listId}`)
    expect(html).toContain('G***@Example.org')
    expect(html).not.toMatch(/grace@example/i)
    expect(html).not.toMatch(/<script|https?:|src=|href=/)
    expect(html.match(/<button/g)).toHaveLength(1)
    expect(response.headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'sha256-/)
    expect(response.headers.get('referrer-policy')).toBe('no-referrer')
    expect(response.headers.get('x-robots-tag')).toContain('noindex')
    expect(response.headers.get('cache-control')).toBe('no-store')
  })

  it('ends it all with one POST of the mail program, which may be repeated', async () => {
    const { token, listId, campaigns, contactId } = await begin(api)
    await api.mail.context.db.query(
      `update postrider.scheduled_actions set state = 'leased', wake_at = null, lease_token = gen_random_uuid() where dedupe_key = $1`,
      [campaignEmailKey(campaigns[1]!, contactId)],
    )
    const response = await ask(api, 'POST', token, 'List-Unsubscribe=One-Click')
    expect(response.status).toBe(200)
    expect(await response.text()).toContain('You are unsubscribed')
    const after = await everything(api)
    expect(after).toEqual([
      [{ list_id: listId, address: 'grace@example.org', source: 'one_click' }],
      campaigns
        .map((id) => campaignEmailKey(id, contactId))
        .toSorted()
        .map((key) => ({ dedupe_key: key, state: 'skipped', reason_code: 'unsubscribed', free: true })),
      [
        {
          type: 'unsubscribed',
          payload: expect.objectContaining({ source: 'one_click' }),
          email_id: expect.any(String),
        },
      ],
      [{ count: expect.anything() }],
    ])
    for (const again of ['List-Unsubscribe=One-Click', 'action=unsubscribe'])
      expect((await ask(api, 'POST', token, again)).status).toBe(200)
    expect(await everything(api)).toEqual(after)
  })

  it('takes a multipart form, the button, and a body that is none', async () => {
    const form = new FormData()
    form.set('List-Unsubscribe', 'One-Click')
    const sources: string[] = []
    for (const [body, type] of [
      [form],
      ['action=unsubscribe'],
      ['{"a":1}', 'application/json'],
      ['', 'text/plain'],
    ] as const) {
      const { token, listId } = await begin(api)
      expect((await ask(api, 'POST', token, body, type)).status).toBe(200)
      const { rows } = await api.mail.context.db.query<{ source: string }>(
        'select source from postrider.opt_outs where list_id = $1',
        [listId],
      )
      sources.push(rows[0]!.source)
    }
    expect(sources).toEqual(['one_click', 'link', 'link', 'link'])
  })

  it('leaves what is on the wire, or may have been taken, and other lists and finished campaigns alone', async () => {
    const { token, campaigns, contactId } = await begin(api)
    const { db } = api.mail.context
    await db.query('delete from postrider.scheduled_actions')
    await plan(api, campaigns[0]!, contactId, 'armed')
    await plan(api, campaigns[1]!, contactId, 'pending', true)
    const other = await begin(api)
    await db.query(`update postrider.campaigns set status = 'canceled', finished_at = now() where id = $1`, [
      other.campaigns[0],
    ])
    expect((await ask(api, 'POST', token, 'List-Unsubscribe=One-Click')).status).toBe(200)
    expect(await states(api)).toEqual(['armed', 'pending', 'pending', 'pending'])
    expect((await ask(api, 'POST', other.token, 'List-Unsubscribe=One-Click')).status).toBe(200)
    expect(await states(api)).toEqual(['armed', 'pending', 'pending', 'skipped'])
  })

  it('works when the contact was deleted, and for whoever was imported again in their place', async () => {
    const { token, listId, campaigns, contactId } = await begin(api)
    const { db } = api.mail.context
    await db.query('delete from postrider.contacts where id = $1', [contactId])
    const again = newId()
    await db.query(
      `insert into postrider.contacts (id, workspace_id, address, folded_address) values ($1, $2, 'grace@example.org', 'grace@example.org')`,
      [again, DEFAULT_WORKSPACE],
    )
    await joinList(db, listId, [again])
    await plan(api, campaigns[0]!, again)
    expect(await (await ask(api, 'GET', token)).text()).toContain('G***@Example.org')
    await ask(api, 'POST', token, 'List-Unsubscribe=One-Click')
    expect(await states(api)).toEqual(['skipped', 'skipped', 'skipped'])
  })

  it('can be undone from its page, which then shows the way out again', async () => {
    const { token } = await begin(api)
    await ask(api, 'POST', token, 'action=unsubscribe')
    expect(await (await ask(api, 'GET', token)).text()).toContain('Subscribe again')
    expect(await (await ask(api, 'POST', token, 'action=resubscribe')).text()).toContain('Unsubscribe?')
    const [optOuts, , events] = (await everything(api)) as [unknown[], unknown, { type: string }[]]
    expect(optOuts).toEqual([])
    expect(events.map(({ type }) => type)).toEqual(['unsubscribed', 'resubscribed'])
    expect(await states(api)).toEqual(['skipped', 'skipped'])
  })

  it('is a small page and nothing else when it is forged, cut off, or its list is gone', async () => {
    const { token, listId, contactId } = await begin(api)
    const gone = sign.sign({ listId: newId(), contactId, campaignId: null, address: 'grace@example.org' })
    const foreign = createLinkSigner(() => 'another').sign({ listId, contactId, campaignId: null, address: 'a@b.c' })
    const before = await everything(api)
    for (const wrong of [token.slice(0, -1), `${token}A`, token.toLowerCase(), 'x', '%00', gone, foreign])
      for (const method of ['GET', 'POST']) {
        const response = await ask(api, method, wrong, method === 'POST' ? 'List-Unsubscribe=One-Click' : undefined)
        const html = await response.text()
        expect([wrong, response.status, response.headers.get('content-type')]).toEqual([
          wrong,
          404,
          'text/html; charset=utf-8',
        ])
        expect(html).toContain('This link does not work')
        expect(html).not.toMatch(/node_modules|at \w+ \(/)
      }
    expect(await everything(api)).toEqual(before)
  })
})
