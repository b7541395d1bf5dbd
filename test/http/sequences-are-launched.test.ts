import { describe, expect, it } from 'vitest'
import { DATABASE_KINDS } from '../support/test-database.js'
import { openApi } from './api-fixture.js'
import { DAY, HOUR, MINUTE, openSequences } from './sequence-world.js'

interface Scheduled {
  readonly id: string
  readonly address: string
  readonly scheduled_at: string
  readonly day: string
  readonly sender_id: string
  readonly step: { readonly node: string; readonly number: number }
}

describe.each(DATABASE_KINDS)('a campaign of a sequence by HTTP, on %s', (kind) => {
  const api = openApi(kind, { random: () => 0 })
  const world = openSequences(api)
  const { post, get, refused, go, walk, inbox, progress, launched } = world

  it('goes out step by step, each person’s emails as one thread', async () => {
    const { id, ...answer } = await launched(await world.thread(), ['ada', 'bob'])
    expect(answer).toMatchObject({
      status: 'running',
      template_id: null,
      sequence_version: 1,
      scheduled: 6,
      skipped: 0,
      errors: [],
      remaining: 0,
    })
    expect(await progress(id)).toMatchObject({
      counts: { audience: 6, scheduled: 6, not_planned: 0 },
      people: { not_enrolled: 0, active: 2, paused: 0, completed: 0, stopped: 0, enrolled_before: 0 },
    })
    expect(await walk('ada')).toMatchObject({
      state: 'active',
      position: { node: null, arrived: false },
      explain: expect.stringMatching(/^Step 1 goes out /),
      emails: [{ step: { node: 'intro', number: 1 } }, { step: { number: 2 } }, { step: { number: 3 } }],
    })

    await go(0)
    expect((await inbox()).map(({ recipient, subject }) => `${recipient}: ${subject}`).toSorted()).toEqual([
      'ada@example.com: intro for ada',
      'bob@example.com: intro for bob',
    ])
    const between = await walk('ada')
    expect(between).toMatchObject({
      explain: expect.stringMatching(/^Step 2 goes out at \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC\.$/),
      emails: [{ status: 'sent', sent_at: expect.any(String) }, { status: 'scheduled', sent_at: null }, {}],
    })
    const [, second, third] = between.emails as { id: string }[]
    expect(await get(`emails/${second!.id}`)).toMatchObject({
      enrollment_id: between.id,
      step: { node: 'follow-up', number: 2 },
      subject: 'Re: intro for ada',
      explain: expect.stringMatching(/^It goes out at .* UTC\.$/),
    })
    expect((await get(`emails/${third!.id}`)).explain).toMatch(
      /^It goes out at .*, once step 2 has gone out, which is due at /,
    )

    await go(2 * DAY)
    await go(3 * DAY)
    const ada = (await inbox()).filter(({ recipient }) => recipient === 'ada@example.com')
    expect(ada.map(({ subject }) => subject)).toEqual(['intro for ada', 'Re: intro for ada', 'Re: intro for ada'])
    const [first, followUp, last] = ada
    expect([first!.header('In-Reply-To'), first!.header('References')]).toEqual([null, null])
    expect(followUp!.header('In-Reply-To')).toBe(first!.messageId)
    expect(followUp!.header('References')).toBe(first!.messageId)
    expect(last!.header('In-Reply-To')).toBe(followUp!.messageId)
    expect(last!.header('References')).toBe(`${first!.messageId} ${followUp!.messageId}`)
    expect(await progress(id)).toMatchObject({
      status: 'sent',
      standstill: null,
      counts: { audience: 6, sent: 6 },
      people: { active: 0, completed: 2 },
    })
    expect(await walk('bob')).toMatchObject({ state: 'completed', explain: 'It came to the end of its sequence.' })
  })

  it('is launched once, and takes whoever joins its list when it is scheduled again', async () => {
    const sequence = await world.thread()
    const list = await world.list(['ada', 'bob'])
    const { id } = await launched(sequence, list)
    expect(await refused(`POST /api/campaigns/${id}/launch`)).toMatchObject({ status: 409, code: 'campaign_conflict' })
    expect(await refused(`POST /api/campaigns/${id}/schedule`, { scheduled_at: '2999-01-01T00:00:00Z' })).toMatchObject(
      {
        status: 409,
      },
    )
    await world.list(['cyd'], list)
    expect(await post(`campaigns/${id}/schedule`)).toMatchObject({ status: 'running', scheduled: 3, skipped: 2 })
    expect(await post(`campaigns/${id}/schedule`)).toMatchObject({ scheduled: 0, skipped: 3 })
    expect((await get(`enrollments?campaign_id=${id}`)).data).toHaveLength(3)
    // Nobody walks a sequence twice, in whichever campaign.
    expect(await launched(sequence, list)).toMatchObject({ status: 'sent', scheduled: 0, skipped: 3 })
    await go(0)
    expect(await world.subjects()).toEqual(['intro for ada', 'intro for bob', 'intro for cyd'])
  })

  it('takes more people one by one or by the list, and goes on for them when it was over', async () => {
    const { id } = await launched(await world.thread(), ['ada'])
    await world.list(['bob', 'cyd', 'dan'])
    await post('suppressions', { email: 'cyd@example.com' })
    const contact_ids = [await world.contact('bob'), await world.contact('cyd'), await world.contact('ada')]
    const nobody = `ctc_${'0'.repeat(32)}`
    expect(await post(`campaigns/${id}/enroll`, { contact_ids: [...contact_ids, nobody] })).toEqual({
      object: 'enrolled',
      enrolled: 1,
      scheduled: 3,
      skipped: 2,
      unsubscribed: 0,
      suppressed: 1,
      enrolled_before: 1,
      errors: [`${nobody}: there is no such contact.`],
      remaining: 0,
    })
    for (const days of [0, 2, 3]) await go(days * DAY)
    expect((await get(`campaigns/${id}`)).status).toBe('sent')
    const other = await world.list(['dan', 'eve'])
    expect(await post(`campaigns/${id}/enroll`, { list_id: other })).toMatchObject({ enrolled: 2, scheduled: 6 })
    expect((await get(`campaigns/${id}`)).status).toBe('running')
    await go(0)
    expect(await world.subjects()).toEqual(expect.arrayContaining(['intro for dan', 'intro for eve']))

    const route = `POST /api/campaigns/${id}/enroll`
    for (const json of [{}, { contact_ids, list_id: other }, { contact_ids: [] }, { contact_ids: ['ada'] }])
      expect([json, (await refused(route, json)).status]).toEqual([json, 422])
    expect(await refused(route, { contact_ids: ['ada'] })).toMatchObject({ errors: [{ pointer: '/contact_ids/0' }] })
    expect(await refused(route, { list_id: `lst_${'0'.repeat(32)}` })).toMatchObject({ code: 'list_not_found' })
    await post(`campaigns/${id}/cancel`)
    const draft = await world.draft(await world.thread(), ['eve'])
    const bulk = await post('campaigns', { name: 'x', list_id: other, template_id: await world.template('Hi') })
    for (const each of [id, draft.id, bulk.id])
      expect(await refused(`POST /api/campaigns/${each}/enroll`, { contact_ids })).toMatchObject({
        status: 409,
        code: 'campaign_conflict',
      })
  })

  it('starts at its time, and nobody gets anything before', async () => {
    const { id } = await world.draft(await world.thread(), ['ada'])
    const at = new Date(Date.now() + DAY).toISOString()
    expect(await post(`campaigns/${id}/schedule`, { scheduled_at: at })).toMatchObject({
      status: 'scheduled',
      scheduled: 0,
      remaining: 1,
    })
    await world.list(['bob'])
    const bob = { contact_ids: [await world.contact('bob')] }
    for (const verb of ['pause', 'resume']) {
      expect(await refused(`POST /api/campaigns/${id}/enroll`, bob)).toMatchObject({ code: 'campaign_conflict' })
      await post(`campaigns/${id}/${verb}`)
    }
    await go(0)
    expect(await progress(id)).toMatchObject({ people: { not_enrolled: 1, active: 0 } })
    expect(await inbox()).toEqual([])
    await go(DAY)
    expect(await world.subjects()).toEqual(['intro for ada'])
  })

  it('has a calendar of what goes out when, soonest first', async () => {
    await post('lists', { name: 'unused' })
    const { id } = await launched(await world.thread(), ['ada', 'bob', 'cyd'])
    const calendar = async (query: string): Promise<{ data: Scheduled[]; has_more: boolean }> =>
      get(`campaigns/${id}/scheduled-emails?order=time${query}`)
    const { data } = await calendar('&limit=100')
    expect(data.map(({ step }) => step.number)).toEqual([1, 1, 1, 2, 2, 2, 3, 3, 3])
    const times = data.map((email) => email.scheduled_at)
    expect(times).toEqual(times.toSorted())
    expect(new Set(times).size).toBe(9)
    for (const each of data) {
      expect(each).toMatchObject({ sender_id: expect.stringMatching(/^snd_/), day: each.scheduled_at.slice(0, 10) })
      expect((await get(`emails/${each.id}`)).deliveries[0].next_attempt_at).toBe(each.scheduled_at)
    }
    const ids = data.map((email) => email.id)
    const shown = async (query: string) => (await calendar(query)).data.map((email) => email.id)
    expect(await calendar('&limit=4')).toMatchObject({ has_more: true })
    expect(await shown('&limit=4')).toEqual(ids.slice(0, 4))
    expect(await shown(`&limit=4&after=${ids[3]}`)).toEqual(ids.slice(4, 8))
    expect(await shown(`&limit=4&before=${ids[5]}`)).toEqual(ids.slice(1, 5))
    expect(await shown(`&from=${times[3]}&to=${times[6]}`)).toEqual(ids.slice(3, 6))
    expect((await get(`campaigns/${id}/scheduled-emails?to=${times[1]}`)).data).toMatchObject([{ id: ids[0] }])
    // What has gone out is not in it, and its place is still known.
    await go(0)
    expect(await shown(`&after=${ids[1]}&limit=100`)).toEqual(ids.slice(3))
    expect((await get(`campaigns/${id}/scheduled-emails?status=sent`)).data).toMatchObject([
      { next_attempt_at: null, day: null },
      {},
      {},
    ])
    for (const query of ['order=time&status=sent', 'order=newest&from=2030-01-01T00:00:00Z', 'from=soon', 'order=best'])
      expect((await refused(`GET /api/campaigns/${id}/scheduled-emails?${query}`)).status).toBe(422)
  })

  it('shows the calendar of a bulk campaign, too', async () => {
    const list_id = await world.list(['ada', 'bob'])
    const template_id = await world.template('Hi {{ contact.name }}')
    const { id, sender_id } = await post('campaigns', { name: 'News', list_id, template_id })
    api.answer('rcpt', '450 4.2.1 come again later')
    await post(`campaigns/${id}/launch`)
    await api.drain()
    const { data } = await get(`campaigns/${id}/scheduled-emails?order=time`)
    expect(data).toMatchObject([
      { sender_id, step: null, enrollment_id: null, scheduled_at: expect.any(String), day: expect.any(String) },
      { subject: expect.stringMatching(/^Hi (ada|bob)$/) },
    ])
    expect(await progress(id)).toMatchObject({ people: null })
  })

  it('gives each contact one of its senders, for all emails', async () => {
    const sender_ids = [await world.sender(), await world.sender()]
    const draft = await world.draft(await world.thread(), ['ada', 'bob', 'cyd', 'dan'], { sender_ids })
    expect(draft.sender_ids.toSorted()).toEqual(sender_ids.toSorted())
    expect(draft.sender_id).toBe(draft.sender_ids[0])
    expect((await get('campaigns')).data).toMatchObject([{ sender_ids: draft.sender_ids }])
    expect((await api.call(`PATCH /api/campaigns/${draft.id}`, { json: { name: 'Renamed' } })).body).toMatchObject({
      sender_ids: draft.sender_ids,
      sequence_id: draft.sequence_id,
    })
    await post(`campaigns/${draft.id}/launch`)
    await go(0)
    await go(2 * DAY)
    const mails = await inbox()
    expect(mails).toHaveLength(8)
    expect(new Set(mails.map(({ from }) => from)).size).toBe(2)
    for (const name of ['ada', 'bob', 'cyd', 'dan'])
      expect(new Set(mails.filter((mail) => mail.recipient.startsWith(name)).map(({ from }) => from)).size).toBe(1)
    expect((await api.call(`DELETE /api/senders/${sender_ids[1]}`)).body.code).toBe('sender_conflict')
  })

  it('is refused as a draft that is not one thing or the other', async () => {
    const [sequence_id, template_id] = [await world.thread(), await world.template('Hi')]
    const [list_id, sender_id] = [await world.list(['ada']), await world.sender()]
    const sender_ids = [sender_id, await world.sender()]
    const pointers = async (json: object) => {
      const body = await refused('POST /api/campaigns', { name: 'x', list_id, ...json })
      expect(body.status).toBe(422)
      return (body.errors as { pointer: string }[]).map(({ pointer }) => pointer)
    }
    expect(await pointers({})).toEqual(['/template_id'])
    expect(await pointers({ sequence_id, template_id })).toEqual(['/template_id'])
    expect(await pointers({ sequence_id: `seq_${'0'.repeat(32)}` })).toEqual(['/sequence_id'])
    expect(await pointers({ template_id, sender_ids })).toEqual(['/sender_ids'])
    expect(await pointers({ sequence_id, sender_ids: [] })).toEqual(['/sender_ids'])
    expect(await pointers({ sequence_id, sender_id, sender_ids })).toEqual(['/sender_ids'])
    expect(await pointers({ sequence_id, sender_ids: ['nobody'] })).toEqual(['/sender_ids/0'])
    const { id } = await world.draft(sequence_id, list_id)
    const bulk = await api.call(`PATCH /api/campaigns/${id}`, { json: { template_id, sequence_id: null } })
    expect(bulk.body).toMatchObject({ template_id, sequence_id: null })
    const back = await api.call(`PATCH /api/campaigns/${id}`, { json: { sequence_id, sender_ids } })
    expect(back.body).toMatchObject({ template_id: null, sequence_id, sender_ids: expect.arrayContaining(sender_ids) })
  })

  it('is paused and resumed as a whole, and canceled for good', async () => {
    const { id } = await launched(await world.thread(), ['ada', 'bob'])
    await post(`campaigns/${id}/pause`)
    await go(HOUR)
    expect(await inbox()).toEqual([])
    expect((await walk('ada')).explain).toBe('Its campaign is paused. Resume that to go on.')
    await post(`campaigns/${id}/resume`)
    await go(MINUTE)
    expect(await inbox()).toHaveLength(2)
    await post(`campaigns/${id}/cancel`)
    expect(await walk('ada')).toMatchObject({
      state: 'stopped',
      reason_code: 'canceled',
      explain: 'It stopped: The campaign was canceled.',
    })
    await go(10 * DAY)
    expect(await inbox()).toHaveLength(2)
    expect(await progress(id)).toMatchObject({ status: 'canceled', counts: { sent: 2, canceled: 4 } })
  })
})
