/* oxlint-disable unicorn/no-thenable -- the `then` of a branch is the name of a node: nothing can await it */
import { describe, expect, it } from 'vitest'
import { DATABASE_KINDS } from '../support/test-database.js'
import { openApi } from './api-fixture.js'
import { DAY, HOUR, openSequences } from './sequence-world.js'

describe.each(DATABASE_KINDS)('a walk through a sequence, on %s', (kind) => {
  const api = openApi(kind, { random: () => 0 })
  const world = openSequences(api)
  const { post, get, refused, go, walk, inbox, event, launched, progress } = world

  /** Who clicks is thanked; who does not within two days is nudged. */
  const waiting = async () =>
    world.sequence(
      await world.send('hello', 'clicked'),
      { id: 'clicked', type: 'wait_for', event: 'clicked', timeoutMs: 2 * DAY, onEvent: 'thanks', onTimeout: 'nudge' },
      await world.send('thanks', null),
      await world.send('nudge', null),
    )

  it('is over when the contact replies, and not when a machine does', async () => {
    const { id } = await launched(await world.thread(), ['ada', 'bob'])
    await go(0)
    const mail = (await inbox()).find(({ recipient }) => recipient === 'ada@example.com')!
    const machine = { 'Auto-Submitted': 'auto-replied' }
    expect(
      (await event({ event: 'replied', message_id: mail.messageId, payload: { headers: machine } })).body,
    ).toMatchObject({ event: 'auto_replied', moved: 0 })
    expect((await walk('ada')).state).toBe('active')
    const { status, body } = await event({ event: 'replied', message_id: mail.messageId })
    expect([status, body]).toMatchObject([
      201,
      { event: 'replied', email_id: expect.stringMatching(/^em_/), contact_id: await world.contact('ada'), moved: 1 },
    ])
    expect(await walk('ada')).toMatchObject({
      state: 'stopped',
      reason_code: 'replied',
      explain: 'It stopped: The contact replied.',
      emails: [{ status: 'sent' }, { status: 'canceled' }, { status: 'canceled' }],
      finished_at: expect.any(String),
    })
    await go(2 * DAY)
    await go(3 * DAY)
    expect(await world.subjects()).toEqual(['Re: intro for bob', 'Re: intro for bob', 'intro for ada', 'intro for bob'])
    expect(await progress(id)).toMatchObject({
      status: 'sent',
      counts: { sent: 4, canceled: 2 },
      people: { stopped: 1, completed: 1 },
    })
  })

  it('goes on with the event it waits for, or without it when its time is up', async () => {
    await launched(await waiting(), ['ada', 'bob'])
    expect((await event({ event: 'opened', email: 'ada@example.com' })).body.moved).toBe(0)
    await go(0)
    expect(await walk('ada')).toMatchObject({
      position: { node: 'clicked', arrived: true },
      explain: expect.stringMatching(/^It waits for clicked until .* UTC\.$/),
      emails: [{ step: { node: 'hello', number: 1 } }],
    })
    const { status, body } = await event({ event: 'clicked', id: 'click-1', email: 'ADA@example.com' })
    expect([status, body]).toMatchObject([201, { email_id: null, duplicate: false, moved: 1 }])
    // Told again, it counts once.
    const again = await event({ event: 'clicked', id: 'click-1', email: 'ada@example.com' })
    expect([again.status, again.body]).toMatchObject([200, { id: body.id, duplicate: true, moved: 0 }])
    await go(0)
    expect(await world.subjects()).toEqual(['hello for ada', 'hello for bob', 'thanks for ada'])
    expect(await walk('ada')).toMatchObject({ state: 'completed', position: { node: null, arrived: true } })
    await go(2 * DAY)
    expect(await world.subjects()).toEqual(['hello for ada', 'hello for bob', 'nudge for bob', 'thanks for ada'])
    expect((await walk('bob')).state).toBe('completed')
    expect((await event({ event: 'clicked', contact_id: await world.contact('bob') })).body.moved).toBe(0)
  })

  it('is counted where it is', async () => {
    const { id } = await launched(await waiting(), ['ada', 'bob', 'cyd'])
    const funnel = async () => {
      const { nodes, completed, stopped } = await get(`campaigns/${id}/funnel`)
      const at = (node: string) => nodes.find((one: { node: string }) => one.node === node)
      return { clicked: at('clicked'), hello: at('hello'), thanks: at('thanks'), completed, stopped }
    }
    expect(await funnel()).toMatchObject({ clicked: { coming: 0, here: 0 }, hello: { coming: 3, here: 0, sent: 0 } })
    await go(0)
    expect(await funnel()).toMatchObject({
      clicked: { coming: 0, here: 3, type: 'wait_for', sent: null },
      hello: { coming: 0, sent: 3 },
    })
    await event({ event: 'clicked', email: 'ada@example.com' })
    await event({ event: 'replied', email: 'bob@example.com' })
    await post(`enrollments/${(await walk('cyd')).id}/pause`)
    await go(0)
    expect(await funnel()).toMatchObject({
      clicked: { here: 0, paused: 1, stopped: 1 },
      thanks: { sent: 1 },
      completed: 1,
      stopped: 1,
    })
  })

  it('through nothing but emails is counted at the one that comes next', async () => {
    const { id } = await launched(await world.thread(), ['ada', 'bob', 'cyd'])
    const funnel = async () => {
      const { nodes, ...rest } = await get(`campaigns/${id}/funnel`)
      const coming = nodes.map((one: { coming: number; paused: number }) => [one.coming, one.paused])
      return { coming, ending: rest.ending, completed: rest.completed, stopped: rest.stopped }
    }
    const next = async (name: string) => {
      const { data } = await get(`enrollments?campaign_id=${id}&contact_id=${await world.contact(name)}`)
      return data[0].next
    }
    const [first, second, third] = (await walk('ada')).emails
    expect(await next('ada')).toEqual({ node: first.step.node, status: 'scheduled', scheduled_at: first.scheduled_at })
    expect((await funnel()).coming).toEqual([
      [3, 0],
      [0, 0],
      [0, 0],
    ])
    await go(0)
    expect(await next('ada')).toMatchObject({ node: second.step.node, status: 'scheduled' })
    await event({ event: 'replied', email: 'bob@example.com' })
    await post(`enrollments/${(await walk('cyd')).id}/pause`)
    expect(await next('bob')).toBeNull()
    expect(await funnel()).toEqual({
      coming: [
        [0, 0],
        [1, 1],
        [0, 0],
      ],
      ending: 0,
      completed: 0,
      stopped: 1,
    })
    await go(2 * DAY)
    expect(await next('ada')).toMatchObject({ node: third.step.node })
    expect((await funnel()).coming).toEqual([
      [0, 0],
      [0, 1],
      [1, 0],
    ])
    await go(3 * DAY)
    expect(await next('ada')).toBeNull()
    expect(await funnel()).toMatchObject({
      coming: [
        [0, 0],
        [0, 1],
        [0, 0],
      ],
      ending: 0,
      completed: 1,
    })
  })

  it('goes where its branch says', async () => {
    const sequence = await world.sequence(
      { id: 'rest', type: 'wait', durationMs: DAY, next: 'which' },
      {
        id: 'which',
        type: 'branch',
        condition: { any: [{ attribute: 'plan', is: 'equals', value: 'ada' }, { event: 'order.paid' }] },
        then: 'customer',
        else: 'offer',
      },
      await world.send('customer', null),
      await world.send('offer', null),
    )
    expect(await launched(sequence, ['ada', 'bob', 'cyd'])).toMatchObject({ scheduled: 0, remaining: 0 })
    expect((await walk('bob')).explain).toMatch(/^It goes on at .* UTC, where its node which decides\.$/)
    await api.mail.events.send({ event: 'order.paid', contactId: await world.contact('bob') })
    await go(DAY)
    expect(await world.subjects()).toEqual(['customer for ada', 'customer for bob', 'offer for cyd'])
  })

  it('stands still while it is paused, and then goes on', async () => {
    await launched(await waiting(), ['ada', 'bob'])
    const { id } = await walk('ada')
    expect(await post(`enrollments/${id}/pause`)).toMatchObject({ object: 'enrollment', id, state: 'paused' })
    await go(HOUR)
    expect(await world.subjects()).toEqual(['hello for bob'])
    expect((await walk('ada')).explain).toBe('Somebody paused it. Resume it to go on.')
    expect((await get(`emails/${(await walk('ada')).emails[0].id}`)).explain).toBe(
      'It waits because its enrollment is paused.',
    )
    expect((await get('enrollments?state=paused')).data).toMatchObject([{ id, email: 'ada@example.com' }])
    expect(await post(`enrollments/${id}/resume`)).toMatchObject({ state: 'active' })
    await go(0)
    expect(await world.subjects()).toEqual(['hello for ada', 'hello for bob'])

    // Its timeout does not come while it is paused, and comes when it is resumed.
    await post(`enrollments/${id}/pause`)
    await go(3 * DAY)
    expect(await world.subjects()).toEqual(['hello for ada', 'hello for bob', 'nudge for bob'])
    await post(`enrollments/${id}/resume`)
    await go(0)
    expect(await world.subjects()).toEqual(['hello for ada', 'hello for bob', 'nudge for ada', 'nudge for bob'])
    for (const verb of ['pause', 'resume', 'stop'])
      expect(await refused(`POST /api/enrollments/${id}/${verb}`)).toMatchObject({
        status: 409,
        code: 'enrollment_conflict',
      })
  })

  it('is stopped by somebody for good', async () => {
    const { id: campaign } = await launched(await world.thread(), ['ada'])
    const { id } = await walk('ada')
    expect(await post(`enrollments/${id}/stop`)).toMatchObject({ state: 'stopped', reason_code: 'stopped' })
    await go(10 * DAY)
    expect(await inbox()).toEqual([])
    expect((await get(`campaigns/${campaign}`)).status).toBe('sent')
    await api.call(`DELETE /api/contacts/${await world.contact('ada')}`)
    expect(await get(`enrollments/${id}`)).toMatchObject({ email: null, state: 'stopped' })
    for (const route of ['GET /api/enrollments/x', 'POST /api/enrollments/x/stop'])
      expect(await refused(route.replace('x', `enr_${'0'.repeat(32)}`))).toMatchObject({ code: 'enrollment_not_found' })
  })

  it('is over when the contact unsubscribes by the link in its mail', async () => {
    await launched(await world.thread(), ['ada'])
    await go(0)
    const [mail] = await inbox()
    const path = /<https?:\/\/[^/]+(\/u\/[\w-]+)>/.exec(mail!.header('List-Unsubscribe')!)![1]!
    await api.mail.fetch(
      new Request(`http://localhost${path}`, {
        method: 'POST',
        body: new URLSearchParams({ 'List-Unsubscribe': 'One-Click' }),
      }),
    )
    expect(await walk('ada')).toMatchObject({
      state: 'stopped',
      reason_code: 'unsubscribed',
      explain: 'It stopped: The contact unsubscribed.',
    })
    await go(10 * DAY)
    expect(await inbox()).toHaveLength(1)
  })

  it('waits for whoever decides about an email that failed, and says so', async () => {
    await launched(await world.thread(), ['ada'])
    const { id, emails } = await walk('ada')
    await api.force(emails[0].id as string, 'failed', 'The server did not like it.')
    expect((await get(`enrollments/${id}`)).explain).toBe(
      'Step 1 failed: The server did not like it. It goes on when somebody retries that, and stops when it is dismissed.',
    )
    expect((await get(`emails/${emails[1].id}`)).explain).toBe(
      'It waits because step 1 before it failed: retry or dismiss that.',
    )
    await go(2 * DAY)
    expect(await inbox()).toEqual([])
    await post(`emails/${emails[0].id}/retry`)
    await go(0)
    expect(await world.subjects()).toEqual(['intro for ada'])
    // Its delay counts from when the first one really went out.
    await go(DAY)
    expect(await inbox()).toHaveLength(1)
    await go(DAY)
    expect(await world.subjects()).toEqual(['Re: intro for ada', 'intro for ada'])
  })

  it('hears of events about exactly one subject', async () => {
    await world.list(['ada'])
    const contact_id = await world.contact('ada')
    for (const json of [{}, { email: 'ada@example.com', contact_id }, { contact_id, message_id: '<a@b>' }])
      expect((await event({ event: 'clicked', ...json })).body).toMatchObject({
        status: 422,
        errors: [{ pointer: '/email_id' }],
      })
    for (const json of [
      { email: 'nobody@example.com' },
      { contact_id: 'ctc_1' },
      { contact_id: `ctc_${'0'.repeat(32)}` },
    ])
      expect((await event({ event: 'clicked', ...json })).body).toMatchObject({
        status: 404,
        code: 'contact_not_found',
      })
    for (const id of ['', 'x'.repeat(257)])
      expect((await event({ event: 'clicked', contact_id, id })).body).toMatchObject({ errors: [{ pointer: '/id' }] })
    const { events } = api.mail
    await expect(events.send({ event: 'clicked' })).rejects.toMatchObject({ code: 'event_invalid' })
    await expect(events.send({ event: 'clicked', emailId: 'x' })).rejects.toMatchObject({ code: 'email_not_found' })
    expect(await events.send({ event: 'signed.up', email: 'ada@example.com', payload: { via: 'web' } })).toEqual({
      id: expect.stringMatching(/^evt_/),
      event: 'signed.up',
      emailId: null,
      contactId: contact_id,
      duplicate: false,
      settled: 0,
      moved: 0,
    })
  })
})
