import { describe, expect, it } from 'vitest'
import { DEFAULT_WORKSPACE, newId, readId, showId } from '../../src/id.js'
import { decideMany } from '../../src/operations/decide-many.js'
import { DATABASE_KINDS } from '../support/test-database.js'
import { openApi } from './api-fixture.js'

const LATER = '2040-01-01T00:00:00Z'

describe.each(DATABASE_KINDS)('decisions about many emails, on %s', (kind) => {
  const api = openApi(kind)
  const db = () => api.mail.context.db
  const send = async (to: string | string[], extra: object = {}) =>
    (await api.call('POST /api/emails', { json: { to, subject: `To ${String(to)}`, text: 'Hello.', ...extra } })).body
      .id as string
  const decide = async (what: string, json?: object) =>
    (await api.call(`POST /api/admin/outbox/${what}`, { json })).body
  const statusOf = async (id: string) => (await api.call(`GET /api/emails/${id}`)).body.status as string

  /** Failed emails, written at once. */
  const failMany = async (count: number): Promise<string[]> => {
    const first = readId('em', await send('many@example.com'))!
    const ids = Array.from({ length: count }, newId)
    await db().query(
      `with made as (
         insert into postrider.messages
         select (jsonb_populate_record(message, jsonb_build_object('id', given.id))).*
         from postrider.messages message, unnest($2::uuid[]) as given (id) where message.id = $1 returning id)
       insert into postrider.scheduled_actions (id, workspace_id, lane_id, type, dedupe_key, run_at, payload, message_id,
         state, needs_attention, reason_code)
       select id, $3, $3, 'send', id, ${db().now}, '{"recipient": "many@example.com"}', id, 'failed', true, 'message' from made`,
      [first, ids, DEFAULT_WORKSPACE],
    )
    await api.drain()
    return ids
  }

  it('are counted before they are made, and made of exactly those', async () => {
    const ids: string[] = []
    for (const to of ['a@example.com', 'b@example.com', 'c@example.org']) ids.push(await send(to))
    for (const id of ids) await api.force(id, 'failed')
    const nothing = { matched: 0, changed: 0, refused: [], refused_count: 0, has_more: false, dry_run: true }
    expect(await decide('retry', { filter: { q: 'nobody' }, dry_run: true })).toEqual(nothing)
    expect(await decide('retry', { filter: { q: 'example.com' }, dry_run: true })).toEqual({ ...nothing, matched: 2 })
    expect(await statusOf(ids[0]!)).toBe('failed')
    const wrong = await api.call('POST /api/admin/outbox/retry', {
      json: { filter: { q: 'example.com' }, expected: 3 },
    })
    expect([wrong.status, wrong.body.code]).toEqual([409, 'email_conflict'])
    expect(wrong.body.detail).toBe('2 emails match by now, not 3. Nothing was changed: look at them again.')
    expect(await statusOf(ids[0]!)).toBe('failed')
    const done = await decide('retry', { filter: { q: 'example.com' }, expected: 2 })
    expect(done).toEqual({ ...nothing, matched: 2, changed: 2, dry_run: false })
    expect(await Promise.all(ids.map(statusOf))).toEqual(['scheduled', 'scheduled', 'failed'])
    expect(await decide('dismiss')).toMatchObject({ matched: 1, changed: 1 })
    expect(await statusOf(ids[2]!)).toBe('dismissed')
  })

  it('say of each that was not changed what it is', async () => {
    const { email: foreign } = await api.elsewhere()
    const waiting = await send('waiting@example.com', { scheduled_at: LATER })
    const failed = await send('failed@example.com')
    await api.force(failed, 'failed')
    const sent = await send('sent@example.com')
    await api.drain()
    const ids = [waiting, failed, sent, foreign, failed]
    const refused = [
      {
        id: failed,
        code: 'email_conflict',
        detail: `Email ${failed} is failed; cancelling needs scheduled or retry_scheduled.`,
      },
      {
        id: sent,
        code: 'email_conflict',
        detail: `Email ${sent} is sent; cancelling needs scheduled or retry_scheduled.`,
      },
      { id: foreign, code: 'email_not_found', detail: 'There is no such email.' },
    ]
    expect(await decide('cancel', { ids, dry_run: true })).toMatchObject({
      matched: 1,
      changed: 0,
      refused,
      refused_count: 3,
    })
    expect(await statusOf(waiting)).toBe('scheduled')
    expect(await decide('cancel', { ids, expected: 4 })).toMatchObject({
      matched: 4,
      changed: 1,
      refused,
      refused_count: 3,
    })
    expect(await statusOf(waiting)).toBe('canceled')
    expect(await decide('cancel', { ids: [waiting] })).toMatchObject({ changed: 0, refused_count: 1 })
  })

  it('send emails at another time, and settle uncertain ones either way', async () => {
    const [first, second] = [await send('a@example.com', { scheduled_at: LATER }), await send('b@example.com')]
    const at = '2041-02-03T04:05:06.000Z'
    expect(await decide('reschedule', { ids: [first, second], scheduled_at: at })).toMatchObject({ changed: 2 })
    for (const id of [first, second])
      expect((await api.call(`GET /api/emails/${id}`)).body).toMatchObject({ status: 'scheduled', scheduled_at: at })
    const [known, again] = [await send('c@example.com'), await send('d@example.com')]
    for (const id of [known, again]) await api.force(id, 'uncertain')
    expect(await decide('resolve', { filter: { to: 'c@example.com' }, outcome: 'sent' })).toMatchObject({ changed: 1 })
    expect(await decide('resolve', { filter: {}, outcome: 'resend' })).toMatchObject({ changed: 1 })
    expect([await statusOf(known), await statusOf(again)]).toEqual(['sent', 'scheduled'])
    const { body } = await api.call(`GET /api/emails/${again}`)
    expect(body.events).toMatchObject([{ type: 'resolved_by_resending', payload: { by: 'POSTRIDER_API_KEY' } }])
  })

  it('move no email past its end', async () => {
    const lasting = await send('a@example.com', { scheduled_at: LATER })
    const ending = await send('b@example.com', { scheduled_at: LATER, expires_at: '2041-01-01T00:00:00Z' })
    const at = '2041-02-03T04:05:06.000Z'
    expect(await decide('reschedule', { ids: [lasting, ending], scheduled_at: at })).toMatchObject({
      changed: 1,
      refused: [{ id: ending, code: 'email_conflict', detail: `Email ${ending} expires before that time.` }],
    })
    expect((await api.call(`GET /api/emails/${lasting}`)).body.scheduled_at).toBe(at)
    expect((await api.call(`GET /api/emails/${ending}`)).body.scheduled_at).toBe(new Date(LATER).toISOString())
  })

  it('are asked for in one way at a time', async () => {
    const problemsOf = async (what: string, json: object) => {
      const { status, body } = await api.call(`POST /api/admin/outbox/${what}`, { json })
      return [status, ...(body.errors ?? []).map(({ pointer }: { pointer: string }) => pointer)]
    }
    const id = `em_${'0'.repeat(32)}`
    expect(await problemsOf('retry', { ids: [id], filter: {} })).toEqual([422, '/filter'])
    expect(await problemsOf('retry', { ids: [id], q: 'x' })).toEqual([422, '/filter'])
    expect(await problemsOf('retry', { ids: ['nothing'] })).toEqual([422, '/ids/0'])
    expect(await problemsOf('retry', { filter: { status: 'sent' } })).toEqual([422, '/filter/status'])
    expect(await problemsOf('retry', { filter: { campaign_id: 'x' } })).toEqual([422, '/filter/campaign_id'])
    expect(await problemsOf('retry', { filter: { subject: 'x' } })).toEqual([422, '/filter/subject'])
    expect(await problemsOf('retry', { ids: Array.from({ length: 1_001 }, () => id) })).toEqual([422, '/ids'])
    expect(await problemsOf('cancel', {})).toEqual([422, '/ids'])
    expect(await problemsOf('cancel', { q: 'x', ids: [id] })).toEqual([422, '/q'])
    expect(await problemsOf('reschedule', { ids: [id], scheduled_at: 'soon' })).toEqual([422, '/scheduled_at'])
    expect(await problemsOf('reschedule', { ids: [id] })).toEqual([422, '/scheduled_at'])
    expect(await problemsOf('resolve', { ids: [id], outcome: 'maybe' })).toEqual([422, '/outcome'])
    expect(await problemsOf('retry', { filter: {}, within_ms: 100 })).toEqual([422, '/within_ms'])
    expect(await problemsOf('retry', { ids: [id], dry_run: true, within_ms: 100 })).toEqual([422, '/within_ms'])
    expect(await problemsOf('retry', { filter: {}, dry_run: true, after: id })).toEqual([422, '/after'])
    expect(await problemsOf('retry', { filter: {}, dry_run: true, within_ms: 9, after: 'x' })).toEqual([422, '/after'])
    expect(await problemsOf('retry', { filter: {}, in_all: 3 })).toEqual([422, '/in_all'])
    expect(await problemsOf('retry', { ids: [id, `em_${'1'.repeat(32)}`], in_all: 1 })).toEqual([422, '/in_all'])
    expect(await problemsOf('retry', { ids: [id], deed: 'aud_1' })).toEqual([422, '/deed', '/deed'])
  })

  it('are counted within a time, page by page, and each email is named once', async () => {
    const ids = new Set((await failMany(2_500)).map((id) => showId('em', id)))
    const found: string[] = []
    const pages: number[] = []
    for (let after: string | null | undefined; after !== null;) {
      const page = await decide('retry', { filter: {}, dry_run: true, within_ms: 1, ...(after && { after }) })
      expect(page).toMatchObject({ matched: page.ids.length, changed: 0, has_more: page.next !== null })
      expect(page.searched_until === null).toBe(page.next === null)
      found.push(...page.ids)
      pages.push(page.ids.length)
      after = page.next
    }
    expect(pages.length).toBeGreaterThan(1)
    expect(found).toHaveLength(2_500)
    expect(new Set(found)).toEqual(ids)
    expect(await decide('retry', { filter: { q: 'nobody' }, dry_run: true, within_ms: 1_000 })).toMatchObject({
      matched: 0,
      ids: [],
      next: null,
      searched_until: null,
    })
  })

  it('are one entry of the audit log, which says how far they came', async () => {
    const ids = (await failMany(5)).map((id) => showId('em', id))
    const entries = async () => (await api.call('GET /api/admin/audit?action=outbox')).body.data
    const first = await decide('retry', { ids: ids.slice(0, 2), in_all: 5 })
    expect(first).toMatchObject({ matched: 2, changed: 2, deed: expect.stringMatching(/^aud_/) as string })
    expect(await entries()).toMatchObject([
      { id: first.deed, outcome: 'not_known', detail: { in_all: 5, begun: 2, changed: 2, refused: 0 } },
    ])
    // One of them was retried in the first part.
    const second = await decide('retry', { ids: [ids[0], ids[2]], in_all: 5, deed: first.deed })
    expect(second).toMatchObject({ changed: 1, refused_count: 1, deed: first.deed })
    const refusals = [
      ['retry', { ids: ids.slice(3), in_all: 6, deed: first.deed }],
      ['dismiss', { ids: ids.slice(3), in_all: 5, deed: first.deed }],
      ['retry', { ids: [ids[1], ...ids.slice(3)], in_all: 5, deed: first.deed }],
      ['retry', { ids: ids.slice(3), in_all: 5, deed: showId('aud', newId()) }],
    ] as const
    for (const [what, json] of refusals)
      expect((await api.call(`POST /api/admin/outbox/${what}`, { json })).body.code).toBe('email_conflict')
    const failed = await Promise.all(ids.slice(3).map(statusOf))
    expect(failed).toEqual(['failed', 'failed'])
    expect(await decide('retry', { ids: ids.slice(4), in_all: 5, deed: first.deed })).toMatchObject({ changed: 1 })
    expect(await entries()).toMatchObject([
      { outcome: 'done', detail: { in_all: 5, begun: 5, changed: 4, refused: 1 } },
    ])
    const over = await api.call('POST /api/admin/outbox/retry', {
      json: { ids: [ids[3]], in_all: 5, deed: first.deed },
    })
    expect([over.body.code, await statusOf(ids[3]!)]).toEqual(['email_conflict', 'failed'])
  })

  it('are made of more than fit into one transaction, each email once, also by two at the same time', async () => {
    const ids = await failMany(1_700)
    expect(await decide('retry', { filter: {}, dry_run: true })).toMatchObject({ matched: 1_700 })
    const { context } = api.mail
    const both = await Promise.all(
      ['one', 'other'].map((by) => decideMany(context, DEFAULT_WORKSPACE, { ids }, 'dismiss', { by })),
    )
    expect(both.map(({ matched }) => matched)).toEqual([1_700, 1_700])
    expect(both[0]!.changed + both[1]!.changed).toBe(1_700)
    for (const { changed, refusedCount, refused } of both) {
      expect(changed + refusedCount).toBe(1_700)
      expect(refused).toHaveLength(Math.min(100, refusedCount))
      for (const { detail } of refused) expect(detail).toMatch(/is dismissed; dismissing needs failed/)
    }
    const { rows } = await db().query(
      `select count(*)::int as events, count(distinct email_id)::int as emails from postrider.events`,
    )
    expect(rows).toEqual([{ events: 1_700, emails: 1_700 }])
  })

  it('concern the recipients that allow it, of an email to several', async () => {
    const id = await send(['a@example.com', 'b@example.com'])
    await db().query(
      `update postrider.scheduled_actions set state = 'failed', needs_attention = true, reason_code = 'message'
       where message_id = $1 and payload ->> 'recipient' = 'a@example.com'`,
      [readId('em', id)],
    )
    expect(await decide('retry', { ids: [id], dry_run: true })).toMatchObject({ matched: 1, refused: [] })
    expect(await decide('retry', { ids: [id] })).toMatchObject({ changed: 1 })
  })
})
