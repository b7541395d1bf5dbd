import { describe, expect, it } from 'vitest'
import { findSequence, findSequenceGraph } from '../../src/db/sequences.js'
import { DEFAULT_SENDER, DEFAULT_WORKSPACE, newId, readId } from '../../src/id.js'
import { DATABASE_KINDS } from '../support/test-database.js'
import { openApi } from './api-fixture.js'

const NO_TEMPLATE = `tpl_${'0'.repeat(32)}`

describe.each(DATABASE_KINDS)('sequences, on %s', (kind) => {
  const api = openApi(kind)
  const call = (...asked: Parameters<typeof api.call>) => api.call(...asked)

  async function makeTemplate(name = 'Hello'): Promise<string> {
    const { body } = await call('POST /api/templates', { json: { name, subject: 'S', text: 'T' } })
    return body.id as string
  }

  /** One of every node. */
  const branching = (template: string) => [
    { id: 'hello', type: 'send', template, reply: false, next: 'opened' },
    {
      id: 'opened',
      type: 'wait_for',
      event: 'opened',
      timeout: { days: 3, hours: 4 },
      on_event: 'pause',
      on_timeout: 'again',
    },
    { id: 'again', type: 'send', template, subject: 'Re: {{ contact.name }}', reply: true, next: 'pause' },
    { id: 'pause', type: 'wait', duration: { minutes: 30 }, next: 'paying' },
    {
      id: 'paying',
      type: 'branch',
      if: { any: [{ not: { event: 'clicked' } }, { attribute: 'plan.name', is: 'in', value: ['pro', 2, true] }] },
      // oxlint-disable-next-line unicorn/no-thenable -- the id of a node, which nothing can call
      then: 'bye',
    },
    { id: 'bye', type: 'stop' },
  ]

  it('are made of steps, and shown as the graph those mean', async () => {
    const template = await makeTemplate()
    const steps = [{ template }, { template, delay_days: 2, delay_hours: 3, subject: 'Still there?', reply: false }]
    const made = await call('POST /api/sequences', { json: { name: ' Onboarding ', steps } })
    expect([made.status, made.body]).toEqual([
      201,
      {
        object: 'sequence',
        id: expect.stringMatching(/^seq_[0-9a-f]{32}$/),
        name: 'Onboarding',
        version: 1,
        steps_count: 2,
        start: 'step-1',
        nodes: [
          { id: 'step-1', type: 'send', template, reply: false, next: 'step-2' },
          {
            id: 'step-2',
            type: 'send',
            template,
            subject: 'Still there?',
            delay: { days: 2, hours: 3 },
            reply: false,
          },
        ],
        versions: [{ version: 1, created_at: expect.any(String) }],
        created_at: expect.any(String),
        updated_at: expect.any(String),
      },
    ])
    expect((await call(`GET /api/sequences/${made.body.id}`)).body).toEqual(made.body)
  })

  it('are made of nodes, and what is shown can be sent back as it is', async () => {
    const template = await makeTemplate()
    const nodes = branching(template)
    const { body: made } = await call('POST /api/sequences', { json: { name: 'Graph', nodes, start: 'hello' } })
    expect(made).toMatchObject({ version: 1, steps_count: 2, start: 'hello', nodes })
    const same = await call(`PATCH /api/sequences/${made.id}`, { json: { start: made.start, nodes: made.nodes } })
    expect(same.body).toMatchObject({ version: 1, nodes, versions: [{ version: 1 }] })
  })

  it('are listed, changed version by version, and removed', async () => {
    const template = await makeTemplate()
    const json = { name: 'First', steps: [{ template }] }
    const { id } = (await call('POST /api/sequences', { json })).body
    const taken = await call('POST /api/sequences', { json })
    expect(taken.body).toMatchObject({ status: 409, code: 'sequence_conflict' })
    const other = (await call('POST /api/sequences', { json: { ...json, name: 'Other' } })).body

    expect((await call(`PATCH /api/sequences/${id}`, { json: { name: 'Renamed' } })).body).toMatchObject({
      name: 'Renamed',
      version: 1,
    })
    const same = await call(`PATCH /api/sequences/${id}`, {
      json: { nodes: [{ id: 'step-1', type: 'send', template }] },
    })
    expect(same.body).toMatchObject({ version: 1, name: 'Renamed' })
    const changed = await call(`PATCH /api/sequences/${id}`, {
      json: { steps: [{ template }, { template, delay_minutes: 90 }] },
    })
    expect(changed.body).toMatchObject({
      version: 2,
      steps_count: 2,
      nodes: [{ id: 'step-1' }, { delay: { hours: 1, minutes: 30 } }],
      versions: [{ version: 2 }, { version: 1 }],
    })
    for (const name of ['Other', 'Other '])
      expect((await call(`PATCH /api/sequences/${id}`, { json: { name } })).body.code).toBe('sequence_conflict')

    const listed = await call('GET /api/sequences?limit=1')
    expect(listed.body).toMatchObject({ has_more: true, data: [{ id: other.id, steps_count: 1 }] })
    expect((await call(`GET /api/sequences?after=${other.id}`)).body.data[0]).toMatchObject({ id, version: 2 })
    expect((await call('GET /api/sequences?after=tpl_1')).status).toBe(422)

    const first = await call(`GET /api/sequences/${id}/versions/1`)
    expect(first.body).toMatchObject({ object: 'sequence_version', sequence_id: id, version: 1, steps_count: 1 })
    expect((await call(`GET /api/sequences/${id}/versions/2`)).body.nodes).toEqual(changed.body.nodes)
    for (const version of ['3', '0', 'x', '99999999999'])
      expect((await call(`GET /api/sequences/${id}/versions/${version}`)).body.code).toBe('sequence_not_found')

    expect((await call(`DELETE /api/sequences/${id}`)).body).toEqual({ object: 'sequence', id, deleted: true })
    for (const gone of [id, 'seq_1', 'nonsense'])
      for (const method of ['GET', 'DELETE'])
        expect((await call(`${method} /api/sequences/${gone}`)).body.code).toBe('sequence_not_found')
    expect((await call(`PATCH /api/sequences/${id}`, { json: { name: 'Back' } })).status).toBe(404)
  })

  it('make one version for each change when they are changed at once', async () => {
    const template = await makeTemplate()
    const { id } = (await call('POST /api/sequences', { json: { name: 'Busy', steps: [{ template }] } })).body
    const answers = await Promise.all(
      [1, 2, 3, 4].map((days) =>
        call(`PATCH /api/sequences/${id}`, { json: { steps: [{ template }, { template, delay_days: days }] } }),
      ),
    )
    expect(answers.map(({ body }) => body.version as number).toSorted((a, b) => a - b)).toEqual([2, 3, 4, 5])
    const days = await Promise.all(
      [2, 3, 4, 5].map(async (version) => {
        const { body } = await call(`GET /api/sequences/${id}/versions/${version}`)
        return body.nodes[1].delay.days as number
      }),
    )
    expect(days.toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4])
  })

  it('are read by whoever walks one, at the version it began with', async () => {
    const template = await makeTemplate()
    const { db } = api.mail.context
    const made = (await call('POST /api/sequences', { json: { name: 'Walked', steps: [{ template }] } })).body
    const id = readId('seq', made.id as string)!
    await call(`PATCH /api/sequences/${made.id}`, { json: { nodes: branching(template) } })
    expect(await findSequence(db, DEFAULT_WORKSPACE, id)).toMatchObject({ version: 2, graph: { start: 'hello' } })
    expect(await findSequenceGraph(db, DEFAULT_WORKSPACE, id, 1)).toEqual({
      start: 'step-1',
      nodes: [
        {
          id: 'step-1',
          type: 'send',
          templateId: readId('tpl', template),
          subject: null,
          delayMs: 0,
          reply: false,
          next: null,
        },
      ],
    })
    expect(await findSequenceGraph(db, DEFAULT_WORKSPACE, id, 3)).toBeNull()
    expect(await findSequenceGraph(db, newId(), id, 1)).toBeNull()
    expect(await findSequence(db, newId(), id)).toBeNull()
    expect(await findSequence(db, DEFAULT_WORKSPACE, 'nonsense')).toBeNull()
  })

  it('say everything that is wrong at once, and where, in the words it was written in', async () => {
    const template = await makeTemplate()
    const nodes = [
      { id: 'a', type: 'wait_for', event: 'replied', timeout: { days: 1 }, on_event: 'c', on_timeot: 'b' },
      { id: 'b', type: 'send', template: NO_TEMPLATE, delay: { weeks: 1 }, next: 'bb' },
      { id: 'B', type: 'send', template: 'Hello' },
      { id: 'd', type: 'branch', if: { attribute: 'plan', is: 'equal', value: 'pro' } },
    ]
    const { status, body } = await call('POST /api/sequences', { json: { name: '', nodes } })
    expect([status, body.code]).toEqual([422, 'sequence_invalid'])
    const details = Object.fromEntries(
      (body.errors as { pointer: string; detail: string }[]).map(({ pointer, detail }) => [pointer, detail]),
    )
    expect(details).toEqual({
      '/name': 'is needed',
      '/nodes/0/event': expect.stringContaining('must not be replied'),
      '/nodes/0/on_timeot': 'is not a known field here (did you mean on_timeout?)',
      '/nodes/0/on_event': expect.stringContaining('names no node'),
      '/nodes/1/delay/weeks': expect.stringContaining('is not a known field'),
      '/nodes/1/next': expect.stringContaining('did you mean b?'),
      '/nodes/1/template': 'must be the id of a template of this workspace',
      '/nodes/2/id': expect.stringContaining('lower-case'),
      '/nodes/3/if/is': expect.stringContaining('did you mean equals?'),
      '/nodes/2/template': 'must be the id of a template of this workspace',
    })

    const steps = await call('POST /api/sequences', { json: { name: 'S', steps: [{ template }, { template }] } })
    expect(steps.body).toMatchObject({ code: 'sequence_invalid', errors: [{ pointer: '/steps/1/delay_days' }] })
    const elsewhere = await api.elsewhere()
    const foreign = { name: 'S', steps: [{ template: elsewhere.template }] }
    expect((await call('POST /api/sequences', { json: foreign })).body.errors).toMatchObject([
      { pointer: '/steps/0/template' },
    ])
  })

  it('refuse fields nobody knows, at any depth', async () => {
    const template = await makeTemplate()
    const made = (await call('POST /api/sequences', { json: { name: 'Kept', steps: [{ template }] } })).body
    const cases: [json: object, pointer: string, detail: RegExp][] = [
      [{ steps: [{ template }], descripton: 'x' }, '/descripton', /not a known field/],
      [{ steps: [{ template, delayDays: 1 }] }, '/steps/0/delayDays', /did you mean delay_days/],
      [{ steps: [{ template, delay: { days: 1 } }] }, '/steps/0/delay', /not a known field here/],
      [{ nodes: [{ id: 'a', type: 'send', template, delay_days: 1 }] }, '/nodes/0/delay_days', /not a known field/],
      [{ nodes: [{ id: 'a', type: 'send', template, delay: { inDays: 1 } }] }, '/nodes/0/delay/inDays', /known field/],
    ]
    for (const [json, pointer, detail] of cases)
      for (const route of ['POST /api/sequences', `PATCH /api/sequences/${made.id}`]) {
        const { status, body } = await call(route, { json: { name: 'X', ...json } })
        expect([route, status, body.errors]).toMatchObject([
          route,
          422,
          [{ pointer, detail: expect.stringMatching(detail) }],
        ])
      }
    for (const json of [{ start: 'a' }, { steps: [{ template }], nodes: [] }, { nodes: null }])
      expect((await call(`PATCH /api/sequences/${made.id}`, { json })).body.code).toBe('sequence_invalid')
    expect((await call(`GET /api/sequences/${made.id}`)).body).toEqual(made)
  })

  it('are checked without being saved', async () => {
    const template = await makeTemplate()
    const validate = (json: unknown) => call('POST /api/sequences/validate', { json })
    const before = (await call('GET /api/sequences')).body
    for (const json of [{ steps: [{ template }] }, { name: 'Any', nodes: branching(template) }])
      expect((await validate(json)).body).toEqual({ object: 'sequence_validation', valid: true, problems: [] })
    const wrong = {
      name: 7,
      colour: 'red',
      nodes: [
        { id: 'a', type: 'send', template: 'Hello', next: 'b' },
        { id: 'b', type: 'wait', duration: { days: 1 }, next: 'a', onEvent: 'a' },
      ],
    }
    const { status, body } = await validate(wrong)
    expect([status, body.valid]).toEqual([200, false])
    const pointers = (body.problems as { pointer: string }[]).map(({ pointer }) => pointer)
    expect(pointers.toSorted()).toEqual(['/colour', '/name', '/nodes/0/template', '/nodes/1/next', '/nodes/1/onEvent'])
    expect((await validate({})).body).toMatchObject({ valid: false, problems: [{ pointer: '' }] })
    for (const body of [[], 'x', null]) expect((await validate(body)).status).toBe(422)
    expect((await call('GET /api/sequences')).body).toEqual(before)
  })

  it('stay while a campaign names them', async () => {
    const template = await makeTemplate()
    const { id } = (await call('POST /api/sequences', { json: { name: 'Needed', steps: [{ template }] } })).body
    const { db } = api.mail.context
    const [list, campaign] = [newId(), newId()]
    await db.query(`insert into postrider.lists (id, workspace_id, name) values ($1, $2, 'L')`, [
      list,
      DEFAULT_WORKSPACE,
    ])
    await db.query(
      `insert into postrider.campaigns (id, workspace_id, name, list_id, sequence_id, sender_id, batch_size)
       values ($1, $2, 'Autumn', $3, $4, $5, 500)`,
      [campaign, DEFAULT_WORKSPACE, list, readId('seq', id as string), DEFAULT_SENDER],
    )
    expect((await call(`GET /api/campaigns?sequence_id=${id}`)).body).toMatchObject({ data: [{ name: 'Autumn' }] })
    expect((await call(`GET /api/campaigns?sequence_id=seq_${'0'.repeat(32)}`)).body.data).toEqual([])
    expect((await call('GET /api/campaigns?sequence_id=Needed')).status).toBe(422)
    expect((await call(`DELETE /api/sequences/${id}`)).body).toMatchObject({
      status: 409,
      code: 'sequence_conflict',
      detail: expect.stringContaining('"Autumn"'),
    })
    await db.query(`delete from postrider.campaigns where id = $1`, [campaign])
    expect((await call(`DELETE /api/sequences/${id}`)).status).toBe(200)
  })
})
