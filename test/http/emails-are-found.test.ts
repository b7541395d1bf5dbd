import { describe, expect, it } from 'vitest'
import { countByStatus } from '../../src/db/count-by-status.js'
import type { EmailFilter } from '../../src/db/email-filter.js'
import { findEmails } from '../../src/db/find-emails.js'
import { EMAIL_STATUSES, type EmailStatus } from '../../src/domain/email-status.js'
import { DEFAULT_WORKSPACE, instantOf, readId } from '../../src/id.js'
import { DATABASE_KINDS } from '../support/test-database.js'
import { openApi } from './api-fixture.js'

/** One of everything that can be told apart, and what each of it is. */
interface Known {
  readonly id: string
  readonly status: EmailStatus
  readonly campaign: boolean
  readonly sender: 'default' | 'other'
  readonly subject: string
  readonly to: readonly string[]
  readonly reasonCodes: readonly string[]
}

describe.each(DATABASE_KINDS)('emails are found, on %s', (kind) => {
  const api = openApi(kind)
  const db = () => api.mail.context.db

  /** Deliveries as workers and people would have left them. */
  const STATES = [
    { state: 'pending', status: 'scheduled', waits: false, code: null },
    { state: 'pending', status: 'scheduled', waits: true, code: null },
    { state: 'pending', status: 'retry_scheduled', waits: true, code: 'transient' },
    { state: 'leased', status: 'sending', waits: false, code: null },
    { state: 'uncertain', status: 'uncertain', waits: false, code: 'no_reply' },
    { state: 'failed', status: 'failed', waits: false, code: 'recipient' },
    { state: 'failed', status: 'failed', waits: false, code: 'message' },
    { state: 'expired', status: 'expired', waits: false, code: 'expired' },
    { state: 'skipped', status: 'suppressed', waits: false, code: 'suppressed' },
    { state: 'canceled', status: 'canceled', waits: false, code: 'canceled' },
    { state: 'dismissed', status: 'dismissed', waits: false, code: 'message' },
    { state: 'done', status: 'sent', waits: false, code: null },
  ] as const
  type State = (typeof STATES)[number]

  const force = (actionId: string, { state, waits, code }: State) =>
    db().query(
      `with token as (select gen_random_uuid() as token), changed as (
         update postrider.scheduled_actions set state = $2, reason_code = $3,
           wake_at = case when $4 then ${db().now} + interval '1 hour' end,
           lease_token = case when $2 in ('leased', 'uncertain') then (select token from token) end,
           needs_attention = $2 in ('failed', 'uncertain') where id = $1)
       insert into postrider.leases (token, worker, expires_at, action_ids)
       select token, 'w', ${db().now} + interval '1 hour', array[$1::uuid] from token where $2 = 'leased'`,
      [actionId, state, code, waits],
    )

  /** Every state in a single email and in one of a campaign, and emails to two in every pair of states. */
  async function fill(): Promise<Known[]> {
    const { body: other } = await api.call('POST /api/senders', {
      json: { address: 'other@sender.test', provider: 'capture' },
    })
    // First, because a worker is needed for it, who would take what is due of the others.
    const known = await fillCampaign()
    const pairs = STATES.flatMap((a, i) => STATES.slice(i + 1, i + 3).map((b) => [a, b] as const))
    for (const [i, states] of [...STATES.map((state) => [state]), ...pairs].entries()) {
      const to = states.map((_, n) => `p${i}-${n}@example.com`)
      const sender = i % 3 === 0 ? 'other' : 'default'
      const subject = i % 4 === 0 ? `Invoice ${i}` : `100%_sure ${i}`
      const json = { to, subject, text: 'Hello.', ...(sender === 'other' && { sender_id: other.id }) }
      const id = readId('em', (await api.call('POST /api/emails', { json })).body.id as string)!
      const { rows } = await db().query<{ id: string }>(
        `select id from postrider.scheduled_actions where message_id = $1 order by payload ->> 'recipient'`,
        [id],
      )
      for (const [n, state] of states.entries()) await force(rows[n]!.id, state)
      const ranks = states.map(({ status }) => EMAIL_STATUSES.indexOf(status))
      const reasonCodes = states.flatMap(({ code }) => code ?? [])
      known.push({ id, status: EMAIL_STATUSES[Math.min(...ranks)]!, campaign: false, sender, subject, to, reasonCodes })
    }
    return known
  }

  async function fillCampaign(): Promise<Known[]> {
    const { body: list } = await api.call('POST /api/lists', { json: { name: 'Readers' } })
    const contacts = STATES.map((_, i) => ({ email: `reader${i}@example.com` }))
    await api.call(`POST /api/lists/${list.id}/contacts`, { json: { contacts } })
    const { body: template } = await api.call('POST /api/templates', {
      json: { name: 'News', subject: 'Invoice news', text: 'Hello.' },
    })
    const { body: campaign } = await api.call('POST /api/campaigns', {
      json: { name: 'News', list_id: list.id, template_id: template.id },
    })
    await api.call(`POST /api/campaigns/${campaign.id}/launch`)
    api.answer('mail', '451 4.3.0 not now')
    await api.mail.tick(20_000)
    const { rows } = await db().query<{ id: string; recipient: string }>(
      `select id, payload ->> 'recipient' as recipient from postrider.scheduled_actions where contact_id is not null order by id`,
    )
    const known: Known[] = []
    for (const [i, { id, recipient }] of rows.entries()) {
      const state = STATES[i]!
      if (state.state === 'pending' && !state.waits) continue
      await force(id, state)
      const { status, code } = state
      const reasonCodes = code === null ? [] : [code]
      known.push({
        id,
        status,
        campaign: true,
        sender: 'default',
        subject: 'Invoice news',
        to: [recipient],
        reasonCodes,
      })
    }
    // The first was deferred like all others, and is left so.
    known.push({
      id: rows[0]!.id,
      status: 'retry_scheduled',
      campaign: true,
      sender: 'default',
      subject: 'Invoice news',
      to: [rows[0]!.recipient],
      reasonCodes: ['transient'],
    })
    return known
  }

  const newestFirst = (ids: readonly string[]) => ids.toSorted((a, b) => (a < b ? 1 : -1))

  /** Page by page, looking at few candidates at a time, until there is no more. */
  async function walk(filter: EmailFilter, lookedAt: number, backwards = false): Promise<string[]> {
    const found: string[] = []
    let from: string | undefined = backwards ? '00000000-0000-7000-8000-000000000000' : undefined
    for (;;) {
      const side = from === undefined ? {} : backwards ? { before: from } : { after: from }
      const { ids, searchedUntil } = await findEmails(db(), DEFAULT_WORKSPACE, filter, { limit: 3, ...side }, lookedAt)
      found.push(...(backwards ? ids.toReversed() : ids))
      const next: string | undefined =
        searchedUntil ?? (ids.length === 3 ? (backwards ? ids[0] : ids.at(-1)) : undefined)
      if (next === undefined) return found
      from = next
    }
  }

  it('by every filter, however little is looked at for a page, in both directions', async () => {
    const known = await fill()
    await api.elsewhere()
    const { body: senders } = await api.call('GET /api/senders')
    const senderId = (address: string) =>
      readId('snd', senders.data.find((sender: { address: string }) => sender.address === address).id)!
    const campaignId = readId('cmp', (await api.call('GET /api/campaigns')).body.data[0].id)!
    const middle = known.find(({ subject }) => subject === 'Invoice 12')!
    const at = instantOf(middle.id)
    const cases: readonly (readonly [EmailFilter, (email: Known) => boolean])[] = [
      [{}, () => true],
      ...EMAIL_STATUSES.map((status) => [{ status }, (email: Known) => email.status === status] as const),
      [{ status: ['failed', 'scheduled'] }, ({ status }) => status === 'failed' || status === 'scheduled'],
      [{ campaignId }, ({ campaign }) => campaign],
      ...EMAIL_STATUSES.map(
        (status) => [{ status, campaignId }, (email: Known) => email.campaign && email.status === status] as const,
      ),
      [{ senderId: senderId('other@sender.test') }, ({ sender }) => sender === 'other'],
      [
        { senderId: senderId('tests@sender.test'), status: 'failed' },
        (e) => e.sender === 'default' && e.status === 'failed',
      ],
      [{ q: 'invoice' }, ({ subject }) => subject.startsWith('Invoice')],
      [{ q: '100%_' }, ({ subject }) => subject.startsWith('100%_')],
      [{ q: 'READER1' }, ({ to }) => to[0]!.startsWith('reader1')],
      [{ q: 'invoice', status: 'failed' }, (e) => e.subject.startsWith('Invoice') && e.status === 'failed'],
      [
        { q: 'p1', status: ['sent', 'failed'] },
        (e) => e.to[0]!.startsWith('p1') && ['sent', 'failed'].includes(e.status),
      ],
      [{ to: 'p14-1@example.com' }, ({ to }) => to.includes('p14-1@example.com')],
      [{ to: 'reader5@example.com' }, ({ to }) => to.includes('reader5@example.com')],
      [{ to: 'p5-0@example.com', status: 'sent' }, () => false],
      [{ reasonCode: 'message' }, ({ reasonCodes }) => reasonCodes.includes('message')],
      [
        { reasonCode: 'recipient', status: 'failed' },
        (e) => e.reasonCodes.includes('recipient') && e.status === 'failed',
      ],
      [{ createdAfter: at }, ({ id }) => id >= middle.id],
      [{ createdBefore: at, status: 'sent' }, (e) => e.id < middle.id && e.status === 'sent'],
    ]
    for (const [filter, matches] of cases) {
      const expected = newestFirst(known.filter(matches).map(({ id }) => id))
      for (const lookedAt of [2, 7, 20_000]) {
        expect([filter, lookedAt, await walk(filter, lookedAt)]).toEqual([filter, lookedAt, expected])
        expect([filter, await walk(filter, lookedAt, true)]).toEqual([filter, expected.toReversed()])
      }
      const { status: _, ...rest } = filter
      if (filter.status !== undefined) continue
      const counts = await countByStatus(db(), DEFAULT_WORKSPACE, rest)
      for (const status of EMAIL_STATUSES)
        expect([filter, status, counts[status]]).toEqual([
          filter,
          status,
          { count: known.filter((email) => matches(email) && email.status === status).length, capped: false },
        ])
      const few = await countByStatus(db(), DEFAULT_WORKSPACE, rest, 2)
      for (const status of EMAIL_STATUSES) {
        expect(few[status].count).toBeLessThanOrEqual(counts[status].count)
        if (few[status].count < counts[status].count)
          expect([filter, status, few[status].capped]).toEqual([filter, status, true])
      }
    }
  })

  it('by the API, which says how far it looked', async () => {
    const ids: string[] = []
    for (const to of ['a@example.com', 'b@example.com', 'c@example.com'])
      ids.push((await api.call('POST /api/emails', { json: { to, subject: `To ${to}`, text: 'T' } })).body.id)
    await api.force(ids[1]!, 'failed')
    const { body } = await api.call('GET /api/emails?limit=2')
    expect(body).toMatchObject({ has_more: true, searched_until: null, data: [{ id: ids[2] }, { id: ids[1] }] })
    const { body: counts } = await api.call('GET /api/admin/email-counts?q=example&status=sent')
    expect(counts).toMatchObject({
      object: 'email_counts',
      statuses: { scheduled: { count: 2, capped: false }, failed: { count: 1, capped: false }, sent: { count: 0 } },
      total: { count: 3, capped: false },
    })
    expect((await api.call('GET /api/emails?sender_id=nobody')).body).toMatchObject({
      code: 'request_invalid',
      errors: [{ in: 'query', pointer: '/sender_id' }],
    })
    expect((await api.call('GET /api/admin/email-counts?created_after=yesterday')).status).toBe(422)
    const { data: senders } = (await api.call('GET /api/senders')).body
    const none = 'created_before=2020-01-01T00:00:00Z'
    expect((await api.call(`GET /api/emails?sender_id=${senders[0].id}&${none}`)).body.data).toEqual([])
    expect((await api.call(`GET /api/emails?sender_id=${senders[0].id}&reason_code=test`)).body.data).toMatchObject([
      { id: ids[1] },
    ])
  })
})
