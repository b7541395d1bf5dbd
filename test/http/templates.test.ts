import { describe, expect, it } from 'vitest'
import { DEFAULT_SENDER, DEFAULT_WORKSPACE, newId, readId } from '../../src/id.js'
import { DATABASE_KINDS } from '../support/test-database.js'
import { openApi } from './api-fixture.js'

const WELCOME = {
  name: 'Welcome',
  subject: 'Hi {{ name }}',
  html: '<style>p { color: red }</style><p>Hi {{ name }}{% if plan == "pro" %}, dear pro{% endif %}</p>',
}

describe.each(DATABASE_KINDS)('templates, on %s', (kind) => {
  const api = openApi(kind)
  const make = async (json: object = WELCOME) =>
    (await api.call('POST /api/templates', { json })).body as Record<string, string>

  it('are made, listed, changed version by version, and removed', async () => {
    const made = await api.call('POST /api/templates', { json: WELCOME })
    expect([made.status, made.body]).toMatchObject([
      201,
      { object: 'template', version: 1, text: null, variables: ['name', 'plan'] },
    ])
    const { id } = made.body as { id: string }
    expect((await api.call('POST /api/templates', { json: WELCOME })).body).toMatchObject({
      code: 'template_conflict',
      status: 409,
    })
    const other = await make({ ...WELCOME, name: 'Other' })

    const renamed = await api.call(`PATCH /api/templates/${id}`, { json: { name: 'Welcome!' } })
    expect(renamed.body).toMatchObject({ name: 'Welcome!', version: 1 })
    const changed = await api.call(`PATCH /api/templates/${id}`, { json: { html: null, text: 'Hello {{ name }}' } })
    expect(changed.body).toMatchObject({ version: 2, html: null, text: 'Hello {{ name }}', subject: WELCOME.subject })
    expect((await api.call(`PATCH /api/templates/${id}`, { json: { name: 'Other' } })).body.code).toBe(
      'template_conflict',
    )
    expect((await api.call(`PATCH /api/templates/${id}`, { json: { text: null } })).body.code).toBe('template_invalid')

    const listed = await api.call('GET /api/templates?limit=1')
    expect(listed.body).toMatchObject({ has_more: true, data: [{ id: other['id'] }] })
    const versions = await api.call(`GET /api/templates/${id}/versions`)
    expect(versions.body.data).toMatchObject([{ version: 2 }, { version: 1, html: WELCOME.html }])
    expect((await api.call(`GET /api/templates/${id}/versions?after=2`)).body.data).toMatchObject([{ version: 1 }])
    expect((await api.call(`GET /api/templates/${id}/versions?after=x`)).status).toBe(422)
    expect((await api.call(`GET /api/templates/${id}/versions/1`)).body.html).toBe(WELCOME.html)
    for (const version of ['3', '0', 'x', '99999999999'])
      expect((await api.call(`GET /api/templates/${id}/versions/${version}`)).body.code).toBe('template_not_found')

    expect((await api.call(`DELETE /api/templates/${id}`)).body).toMatchObject({ deleted: true })
    expect((await api.call(`GET /api/templates/${id}`)).body.code).toBe('template_not_found')
  })

  it('make one version each when they are changed at once', async () => {
    const { id } = await make()
    const texts = ['a', 'b', 'c', 'd']
    const answers = await Promise.all(texts.map((text) => api.call(`PATCH /api/templates/${id}`, { json: { text } })))
    expect(answers.map(({ body }) => body.version as number).toSorted((a, b) => a - b)).toEqual([2, 3, 4, 5])
  })

  it('say everything that is wrong, and where', async () => {
    const json = { name: 'Bad', subject: '{{ a', html: '<p>\n{% include "x" %}' }
    const { status, body } = await api.call('POST /api/templates', { json })
    expect([status, body]).toMatchObject([
      422,
      {
        code: 'template_invalid',
        errors: [
          { pointer: '/subject', detail: expect.stringContaining('line 1, column 1') },
          { pointer: '/html', detail: expect.stringContaining('line 2, column 1') },
        ],
      },
    ])
    expect((await api.call('POST /api/templates', { json: { ...WELCOME, body: 'x' } })).body.code).toBe(
      'request_invalid',
    )
  })

  it('stay while a campaign uses them', async () => {
    const { id } = await make()
    const { db } = api.mail.context
    const [list, campaign] = [newId(), newId()]
    await db.query(`insert into postrider.lists (id, workspace_id, name) values ($1, $2, 'L')`, [
      list,
      DEFAULT_WORKSPACE,
    ])
    await db.query(
      `insert into postrider.campaigns (id, workspace_id, name, list_id, template_id, sender_id, batch_size) values ($1, $2, 'Autumn', $3, $4, $5, 500)`,
      [campaign, DEFAULT_WORKSPACE, list, readId('tpl', id!), DEFAULT_SENDER],
    )
    const refused = await api.call(`DELETE /api/templates/${id}`)
    expect(refused.body).toMatchObject({
      status: 409,
      code: 'template_conflict',
      detail: expect.stringContaining('"Autumn"'),
    })
  })

  it('stay while a sequence uses them, and while a campaign that was launched with it shows what it sent', async () => {
    const { id } = await make()
    const { id: other } = (await api.call('POST /api/templates', { json: { ...WELCOME, name: 'Other' } })).body
    const refusal = async () => {
      const { status, body } = await api.call(`DELETE /api/templates/${id}`)
      return [status, body.detail]
    }
    const sequence = (
      await api.call('POST /api/sequences', { json: { name: 'Onboarding', steps: [{ template: id }] } })
    ).body
    expect(await refusal()).toEqual([409, expect.stringContaining('the sequence "Onboarding"')])

    const list = (await api.call('POST /api/lists', { json: { name: 'L' } })).body
    const draft = { name: 'Spring', list_id: list.id, sequence_id: sequence.id }
    const campaign = (await api.call('POST /api/campaigns', { json: draft })).body
    expect((await api.call(`POST /api/campaigns/${campaign.id}/launch`)).status).toBe(200)
    await api.call(`PATCH /api/sequences/${sequence.id}`, { json: { steps: [{ template: other }] } })
    expect(await refusal()).toEqual([409, expect.stringContaining('the campaign "Spring"')])
  })

  it('are previewed with data, with a contact, and before they are saved', async () => {
    const { id } = await make()
    await api.call(`PATCH /api/templates/${id}`, { json: { subject: 'Two {{ contact.email }} {{ contact.city }}' } })
    const contact = (
      await api.call('POST /api/contacts', { json: { email: 'ada@example.com', attributes: { city: 'Paris' } } })
    ).body
    const preview = (json?: object) => api.call(`POST /api/templates/${id}/preview`, { json })
    expect((await preview({ version: 1, data: { name: '<Ada>', plan: 'pro' } })).body).toEqual({
      object: 'preview',
      subject: 'Hi <Ada>',
      html: expect.stringContaining('<p style="color: red;">Hi &lt;Ada&gt;, dear pro</p>'),
      text: 'Hi <Ada>, dear pro',
      missing: [],
    })
    expect((await preview({ version: 1 })).body).toMatchObject({ subject: 'Hi', missing: ['name'] })
    expect((await preview()).body.missing).toEqual(['contact.email', 'contact.city', 'name'])
    expect((await preview({ contact_id: contact.id, data: { name: 'x' } })).body).toMatchObject({
      subject: 'Two ada@example.com Paris',
      missing: [],
    })
    expect((await preview({ contact_id: 'ctc_x' })).body.code).toBe('contact_not_found')
    expect((await preview({ version: 9 })).body.code).toBe('template_not_found')
    const unsaved = await api.call('POST /api/templates/preview', {
      json: { subject: 'S', text: '{{ unsubscribe_url }}' },
    })
    expect(unsaved.body).toMatchObject({ html: null, text: expect.stringMatching(/\/u\/preview$/), missing: [] })
    const bad = await api.call('POST /api/templates/preview', { json: { subject: '{% x %}', text: '' } })
    expect(bad.body).toMatchObject({ code: 'template_invalid', errors: [{ pointer: '/subject' }] })
    const endless = { subject: 'S', text: '{% for i in (1..9000000) %}x{% endfor %}' }
    expect((await api.call('POST /api/templates/preview', { json: endless })).body.code).toBe('template_invalid')
  })

  it('make single emails, rendered when they are accepted', async () => {
    const { id } = await make()
    const email = { to: 'ada@example.com', template: { id, variables: { name: 'Ada', plan: 'pro' } } }
    const sent = await api.call('POST /api/emails', { json: email })
    expect(sent.status).toBe(202)
    await api.call(`PATCH /api/templates/${id}`, { json: { subject: 'Changed' } })
    expect((await api.call(`GET /api/emails/${sent.body.id}`)).body).toMatchObject({
      subject: 'Hi Ada',
      html: expect.stringContaining('<p style="color: red;">Hi Ada, dear pro</p>'),
      text: 'Hi Ada, dear pro',
    })
    const own = await api.call('POST /api/emails', { json: { ...email, subject: 'Mine' } })
    expect((await api.call(`GET /api/emails/${own.body.id}`)).body.subject).toBe('Mine')
    const library = await api.mail.emails.send({ to: 'a@b.cd', template: { id: id!, variables: { name: 'Lib' } } })
    expect((await api.mail.emails.get(library.id))!.text).toBe('Hi Lib')
  })

  it('refuse emails that leave something out', async () => {
    const { id } = await make({ ...WELCOME, subject: '{{ order.firstLine }} {{ name }}' })
    const send = async (json: object) =>
      (await api.call('POST /api/emails', { json: { to: 'ada@example.com', ...json } })).body
    expect(await send({ template: { id, variables: { order: {} } } })).toMatchObject({
      status: 422,
      code: 'email_invalid',
      errors: [{ pointer: '/template/variables/order/firstLine' }, { pointer: '/template/variables/name' }],
    })
    expect(await send({ template: { id: 'tpl_00000000000000000000000000000000' } })).toMatchObject({
      errors: [{ pointer: '/template/id' }],
    })
    expect(await send({ template: { id: 'nonsense' } })).toMatchObject({ errors: [{ pointer: '/template/id' }] })
    expect(await send({ template: { id }, html: 'x' })).toMatchObject({ errors: [{ pointer: '/template' }] })
    expect(await send({ text: 'x' })).toMatchObject({ errors: [{ pointer: '/subject', detail: 'is needed' }] })
    const batch = [
      { to: 'a@b.cd', subject: 'S', text: 'T' },
      { to: 'a@b.cd', template: { id } },
    ]
    const permissive = await api.call('POST /api/emails/batch', {
      json: batch,
      headers: { 'x-batch-validation': 'permissive' },
    })
    expect(permissive.body).toMatchObject({ data: [{}], errors: [{ index: 1 }] })
  })
})
