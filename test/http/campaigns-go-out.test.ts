import { describe, expect, it } from 'vitest'
import { DATABASE_KINDS } from '../support/test-database.js'
import { openApi } from './api-fixture.js'
import { openCampaignWorld, type Shown } from './campaign-world.js'

const LATER = '2999-01-01T09:00:00Z'
const HOUR_MS = 3_600_000

describe.each(DATABASE_KINDS)('campaigns that go out, by HTTP, on %s', (kind) => {
  const api = openApi(kind)
  const world = openCampaignWorld(api)
  const { post, get, draft, progress, refused, received } = world

  it('go to everybody on the list once, and their counts add up', async () => {
    const list = await world.list('ada', 'bob', 'cyd', 'dan')
    const [dan] = (await get(`lists/${list}/contacts`)).data.filter((each: { name: string }) => each.name === 'dan')
    await api.call(`PATCH /api/lists/${list}/contacts/${dan.id}`, { json: { subscribed: false } })
    await post('suppressions', { email: 'cyd@example.com', scope: 'marketing' })
    const sender_id = await world.sender({ provider: 'capture' })
    const { id } = await draft(list, { sender_id, batch_size: 2, reply_to: 'desk@example.com' })
    expect(await progress(id)).toMatchObject({ standstill: { code: 'draft' }, counts: { audience: 4, not_planned: 4 } })
    const launched = await post(`campaigns/${id}/launch`)
    expect(launched).toMatchObject({ status: 'running', template_version: 1, scheduled: 2, skipped: 2, errors: [] })
    await api.drain()
    expect(await progress(id)).toMatchObject({
      status: 'sent',
      standstill: null,
      counts: { audience: 4, sent: 2, unsubscribed: 1, suppressed: 1, not_planned: 0, failed: 0 },
    })
    const inbox = (await get('inbox')).data as { id: string; recipient: string; subject: string }[]
    expect(inbox.map(({ recipient, subject }) => `${recipient}: ${subject}`).toSorted()).toEqual([
      'ada@example.com: Hi ada',
      'bob@example.com: Hi bob',
    ])
    const { body: raw } = await api.call(`GET /api/inbox/${inbox[0]!.id}/raw`)
    expect(raw).toMatch(/^List-Unsubscribe-Post: List-Unsubscribe=One-Click\r?$/m)
    expect(raw).toMatch(/^Reply-To: desk@example\.com\r?$/m)

    for (const verb of ['launch', 'pause', 'resume', 'cancel'])
      expect(await refused(`POST /api/campaigns/${id}/${verb}`)).toMatchObject({
        status: 409,
        code: 'campaign_conflict',
      })
    expect(await refused(`DELETE /api/campaigns/${id}`)).toMatchObject({ status: 409, code: 'campaign_conflict' })
    expect(await refused(`PATCH /api/campaigns/${id}`, { name: 'x' })).toMatchObject({ code: 'campaign_conflict' })
    expect(await post(`campaigns/${id}/retry`)).toMatchObject({ status: 'sent', retried: 0 })
    await api.drain()
    expect((await get('inbox')).data).toHaveLength(2)
  })

  it('launched by two at the same moment are launched once', async () => {
    const { id } = await draft()
    const other = await api.another()
    const launch = async ({ fetch }: typeof other) =>
      fetch(
        new Request(`http://localhost/api/campaigns/${id}/launch`, {
          method: 'POST',
          headers: { authorization: 'Bearer the-key-of-the-settings' },
        }),
      )
    const answers = await Promise.all([api.mail, other, api.mail, other].map(launch))
    expect(answers.map(({ status }) => String(status)).toSorted()).toEqual(['200', '409', '409', '409'])
    await Promise.all([api.drain(), other.tick(20_000)])
    expect(received()).toEqual(['ada@example.com', 'bob@example.com', 'cyd@example.com'])
    expect(await progress(id)).toMatchObject({ status: 'sent', counts: { audience: 3, sent: 3 } })
  })

  it('wait for the time they are scheduled for', async () => {
    const { id } = await draft()
    const at = new Date(Date.now() + HOUR_MS).toISOString()
    expect(await post(`campaigns/${id}/schedule`, { scheduled_at: at })).toMatchObject({
      status: 'scheduled',
      scheduled_at: at,
      started_at: null,
      scheduled: 3,
    })
    await api.drain()
    expect(await progress(id)).toMatchObject({
      status: 'scheduled',
      standstill: { code: 'waiting_for_start', until: at },
      counts: { not_planned: 3 },
    })
    // Paused past its time, it starts when it is resumed.
    expect(await post(`campaigns/${id}/pause`)).toMatchObject({ status: 'paused' })
    await api.shiftClock(HOUR_MS)
    await api.drain()
    expect(received()).toEqual([])
    await post(`campaigns/${id}/resume`)
    await api.drain()
    expect(received()).toHaveLength(3)
    expect((await get(`campaigns/${id}`)).status).toBe('sent')
    expect(await refused(`POST /api/campaigns/${id}/schedule`, { scheduled_at: LATER })).toMatchObject({ status: 409 })
  })

  it('are paused with what is queued already, resumed, and canceled for good', async () => {
    const sender_id = await world.sender()
    const { id } = await draft(['ada', 'bob', 'cyd'], { sender_id })
    for (const verb of ['pause', 'resume', 'cancel', 'retry'])
      expect(await refused(`POST /api/campaigns/${id}/${verb}`)).toMatchObject({
        status: 409,
        code: 'campaign_conflict',
      })
    await post(`campaigns/${id}/launch`)
    // The sender is held, so that everything is planned and nothing goes out.
    await post(`senders/${sender_id}/pause`, { reason: 'moving house' })
    await api.drain()
    expect(await progress(id)).toMatchObject({ standstill: { code: 'sender_paused' } })
    expect(await post(`campaigns/${id}/pause`)).toMatchObject({ status: 'paused' })
    expect(await refused(`POST /api/campaigns/${id}/pause`)).toMatchObject({ status: 409 })
    await post(`senders/${sender_id}/resume`)
    await api.drain()
    expect([received(), await progress(id)]).toMatchObject([[], { standstill: { code: 'paused' } }])
    expect(await post(`campaigns/${id}/resume`)).toMatchObject({ status: 'running' })
    expect(await refused(`POST /api/campaigns/${id}/resume`)).toMatchObject({ status: 409 })
    const canceled = await post(`campaigns/${id}/cancel`)
    expect(canceled).toMatchObject({ status: 'canceled', finished_at: expect.any(String) })
    await api.drain()
    expect(received()).toEqual([])
    const { standstill, counts } = await progress(id)
    expect(standstill.code).toBe('canceled')
    expect(counts.not_planned + counts.canceled).toBe(3)
    for (const verb of ['launch', 'pause', 'resume', 'cancel', 'retry'])
      expect(await refused(`POST /api/campaigns/${id}/${verb}`)).toMatchObject({ status: 409 })
  })

  it('send what failed again, all at once', async () => {
    const { id } = await draft()
    api.answer('rcpt', '554 5.6.0 not that', 2)
    await post(`campaigns/${id}/launch`)
    await api.drain()
    const before = await progress(id)
    expect(before).toMatchObject({ status: 'sent', counts: { sent: 1, failed: 2 } })
    expect(before.last_error).toMatchObject({ code: 'message', text: expect.stringContaining('not that') })
    expect(await post(`campaigns/${id}/retry`)).toMatchObject({ status: 'running', finished_at: null, retried: 2 })
    await api.drain()
    expect(await progress(id)).toMatchObject({ status: 'sent', counts: { sent: 3, failed: 0 }, last_error: null })
    expect(received()).toEqual(['ada@example.com', 'bob@example.com', 'cyd@example.com'])
  })

  it('have emails like any other: listed, shown, canceled, retried, resolved', async () => {
    const sender_id = await world.sender()
    const { id } = await draft(['ada', 'bob', 'cyd', 'dan'], { sender_id })
    const single = await post('emails', { to: 'eve@example.com', subject: 'alone', text: 'x', scheduled_at: LATER })
    await post(`campaigns/${id}/launch`)
    await api.mail.tick(20_000)
    expect(await world.emails(id)).toHaveLength(4)
    expect((await get('emails?limit=100')).data).toHaveLength(5)
    expect((await get(`emails?campaign_id=${id}&to=ADA@example.com`)).data).toMatchObject([
      { to: ['ada <ada@example.com>'], subject: 'Hi ada', campaign_id: id, status: 'sent' },
    ])
    expect((await get(`campaigns/${id}/scheduled-emails`)).data).toEqual([])
    const page = await get(`campaigns/${id}/scheduled-emails?status=sent&limit=3`)
    expect(page).toMatchObject({ has_more: true, data: [{ next_attempt_at: null }, {}, {}] })
    expect((await get(`campaigns/${id}/scheduled-emails?status=sent&after=${page.data[2].id}`)).data).toHaveLength(1)

    const [first, second] = (await world.emails(id)) as [Shown, Shown]
    const shown = await get(`emails/${first.id}`)
    expect(shown).toMatchObject({
      campaign_id: id,
      status: 'sent',
      text: expect.stringContaining('Hello'),
      headers: { 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' },
      attempts: [{ outcome: 'accepted' }],
    })
    const taken = api.server.taken.find(({ raw }) => raw.includes(shown.message_id))!
    expect(taken.raw.toString()).toContain(`Subject: ${shown.subject}`)

    await api.force(first.id, 'failed')
    await api.force(second.id, 'uncertain')
    expect(await progress(id)).toMatchObject({ counts: { audience: 4, sent: 2, failed: 1, uncertain: 1 } })
    await post(`emails/${first.id}/retry`)
    expect((await get(`campaigns/${id}`)).status).toBe('running')
    expect((await get(`campaigns/${id}/scheduled-emails`)).data).toMatchObject([
      { id: first.id, next_attempt_at: expect.any(String) },
    ])
    expect(await post(`emails/${first.id}/cancel`)).toMatchObject({ status: 'canceled' })
    expect(await post(`emails/${second.id}/resolve`, { outcome: 'sent' })).toMatchObject({ status: 'sent' })
    await api.drain()
    expect(await progress(id)).toMatchObject({ status: 'sent', counts: { sent: 3, canceled: 1 } })
    expect((await get(`emails/${single.id}`)).status).toBe('scheduled')
    expect(received()).toHaveLength(4)
  })

  it('retried email by email and as a whole at the same moment never wait for each other', async () => {
    const { id } = await draft(Array.from({ length: 20 }, (_, i) => `p${i}`))
    api.answer('rcpt', '554 5.6.0 not that', 20)
    await post(`campaigns/${id}/launch`)
    await api.drain()
    const emails = await world.emails(id, '&limit=100')
    const answers = await Promise.all([
      ...emails.map((email) => api.call(`POST /api/emails/${email.id}/retry`)),
      api.call(`POST /api/campaigns/${id}/retry`),
      api.call('POST /api/admin/outbox/retry'),
    ])
    // One retried meanwhile is a conflict; a deadlock would be a 503.
    expect(answers.filter(({ status }) => status !== 200 && status !== 409)).toEqual([])
    await api.drain()
    expect(await progress(id)).toMatchObject({ status: 'sent', counts: { sent: 20 } })
    expect(new Set(received()).size).toBe(20)
    expect(received()).toHaveLength(20)
  })
})
