import { describe, expect, it } from 'vitest'
import { finishImport, insertImport } from '../../src/db/imports.js'
import { insertList } from '../../src/db/lists.js'
import { readCampaignsUnderWay } from '../../src/operations/campaigns-under-way.js'
import { DEFAULT_WORKSPACE, newId, readId, showId } from '../../src/id.js'
import { DATABASE_KINDS } from '../support/test-database.js'
import { until } from '../support/until.js'
import { openApi } from './api-fixture.js'

const MINUTE = 60_000

describe.each(DATABASE_KINDS)('the overview, on %s', (kind) => {
  const api = openApi(kind)
  const send = async (to: string, extra: object = {}) =>
    (await api.call('POST /api/emails', { json: { to, subject: `To ${to}`, text: 'Hello.', ...extra } })).body
      .id as string
  const overview = async (key?: string) =>
    (await api.call('GET /api/admin/dashboard', { ...(key !== undefined && { key }) })).body
  const kinds = async () => (await overview()).attention.map(({ kind: what }: { kind: string }) => what)
  const inMinutes = (minutes: number) => new Date(Date.now() + minutes * MINUTE).toISOString()

  it('is calm when all is well', async () => {
    await send('ada@example.com')
    await api.drain()
    expect(await overview()).toMatchObject({
      object: 'dashboard',
      pending_email_count: 0,
      sending_email_count: 0,
      failed_email_count: 0,
      uncertain_email_count: 0,
      due_now: 0,
      next_hour: 0,
      oldest_due_seconds: null,
      rough: [],
      campaigns: [],
      has_more_campaigns: false,
      attention: [],
    })
  })

  it('counts what is due, what comes, and how late the latest were', async () => {
    const other = await api.elsewhere()
    for (const minutes of [10, 50, 70]) await send(`in${minutes}@example.com`, { scheduled_at: inMinutes(minutes) })
    await send('now@example.com')
    await api.shiftClock(20 * 1_000)
    expect(await overview()).toMatchObject({ pending_email_count: 4, due_now: 1, next_hour: 2, schedule_lag: null })
    const { oldest_due_seconds } = await overview()
    expect(oldest_due_seconds).toBeGreaterThanOrEqual(20)
    expect(oldest_due_seconds).toBeLessThan(40)
    await api.drain()
    const after = await overview()
    expect(after).toMatchObject({ pending_email_count: 3, due_now: 0, oldest_due_seconds: null })
    expect(after.schedule_lag).toMatchObject({ emails: 1 })
    expect(after.schedule_lag.p50_seconds).toBeGreaterThanOrEqual(20)
    expect(await overview(other.key)).toMatchObject({
      pending_email_count: 0,
      next_hour: 0,
      schedule_lag: { emails: 1 },
    })
  })

  it('says of very many whether they were counted or estimated', async () => {
    const { db } = api.mail.context
    const wait = (workspaceId: string, count: number, hours: number) =>
      db.query(
        `insert into postrider.scheduled_actions (id, workspace_id, lane_id, type, dedupe_key, run_at, wake_at, message_id)
         select id, $1, $1, 'send', id, at, at, id from (
           select gen_random_uuid() as id, ${db.now} + $3 * interval '1 hour' + (600 + n) * interval '1 second' as at
           from generate_series(1, $2::int) n) made`,
        [workspaceId, count, hours],
      )
    await wait(DEFAULT_WORKSPACE, 1_200, 1)
    await wait(DEFAULT_WORKSPACE, 1_200, 3)
    await wait(newId(), 1_200, 3)
    await wait(newId(), 1_200, 5)
    const { buckets } = (await api.call('GET /api/admin/upcoming?hours=6')).body
    const [, first, , mixed, , others] = buckets as { emails: number; estimated: boolean }[]
    expect([first!.emails, first!.estimated]).toEqual([1_200, false])
    expect([others!.emails, others!.estimated]).toEqual([0, false])
    expect(mixed!.estimated).toBe(true)
    expect(mixed!.emails).toBeGreaterThan(1_100)
    expect(mixed!.emails).toBeLessThan(1_300)
    await api.shiftClock(150 * MINUTE)
    // Nobody has looked at those that are due by now.
    expect(await overview()).toMatchObject({
      due_now: 1_200,
      pending_email_count: 2_400,
      rough: expect.arrayContaining(['due_now']),
    })
  })

  it('knows what is being sent', async () => {
    const id = await send('ada@example.com')
    const token = newId()
    const { db } = api.mail.context
    await db.query(
      `with held as (update postrider.scheduled_actions set state = 'leased', lease_token = $2 where message_id = $1 returning id)
       insert into postrider.leases (token, worker, expires_at, action_ids)
       select $2, 'w', ${db.now} + interval '1 minute', array[id] from held`,
      [readId('em', id), token],
    )
    expect(await overview()).toMatchObject({ sending_email_count: 1, due_now: 0, pending_email_count: 0 })
  })

  it('says what failed and why, with the list that shows exactly those', async () => {
    const ids = []
    for (const to of ['a@example.com', 'b@example.com', 'c@example.com', 'd@example.com']) ids.push(await send(to))
    await api.force(ids[0]!, 'failed', '550 5.1.1 nobody')
    await api.force(ids[1]!, 'failed', '550 5.1.1 nobody here')
    await api.force(ids[2]!, 'failed', '554 5.7.1 refused')
    await api.force(ids[3]!, 'uncertain')
    const code = (id: string, value: string) =>
      api.mail.context.db.query(`update postrider.scheduled_actions set reason_code = $2 where message_id = $1`, [
        readId('em', id),
        value,
      ])
    for (const id of ids.slice(0, 2)) await code(id, 'recipient')
    await code(ids[2]!, 'message')
    const body = await overview()
    expect(body).toMatchObject({ failed_email_count: 3, uncertain_email_count: 1 })
    expect(body.attention).toHaveLength(3)
    expect(body.attention).toEqual(
      expect.arrayContaining([
        {
          kind: 'failed_emails',
          severity: 'warning',
          count: 2,
          text: '2 emails failed: the mail server does not know the address. The newest: 550 5.1.1 nobody here.',
          link: { page: 'emails', filter: { status: 'failed', reason_code: 'recipient' } },
        },
        expect.objectContaining({
          count: 1,
          link: { page: 'emails', filter: { status: 'failed', reason_code: 'message' } },
        }),
        expect.objectContaining({ kind: 'uncertain_emails', count: 1 }),
      ]),
    )
  })

  it('misses a worker, but not for what somebody has paused', async () => {
    const { body: senders } = await api.call('GET /api/senders')
    await send('ada@example.com')
    expect(await kinds()).toEqual([])
    await api.shiftClock(2 * MINUTE)
    const { attention } = await overview()
    expect(attention).toEqual([expect.objectContaining({ kind: 'no_worker', severity: 'critical', count: 1 })])
    expect(attention[0].text).toMatch(/1 email is due, the oldest for 2 minutes, and nobody takes them/)
    await api.call(`POST /api/senders/${senders.data[0].id}/pause`, { json: { reason: 'holidays' } })
    const paused = await overview()
    expect(paused).toMatchObject({ due_now: 1 })
    expect(paused.oldest_due_seconds).toBeGreaterThanOrEqual(120)
    expect(paused.attention).toEqual([
      {
        kind: 'sender_paused',
        severity: 'info',
        count: 1,
        text: 'Sender tests@sender.test is paused: holidays. Its emails wait until somebody resumes it.',
        link: { page: 'senders', ids: [senders.data[0].id] },
      },
    ])
    expect(paused.senders).toEqual([
      expect.objectContaining({ id: senders.data[0].id, state: 'paused', paused_reason: 'holidays', is_default: true }),
    ])
  })

  it('shows a sender’s day, and that its server slowed it down', async () => {
    await api.call('PUT /api/settings/sending', { json: { timezone: 'Asia/Tokyo', daily_quota: 40 } })
    api.answer('mail', '451 4.7.28 rate limit')
    await send('ada@example.com')
    await api.drain()
    const [sender] = (await overview()).senders
    const day = new Intl.DateTimeFormat('en-CA', { timeZone: 'Asia/Tokyo' }).format(new Date())
    expect(sender).toMatchObject({
      state: 'slowed',
      today: { date: day, quota: 40, booked: 0, sent: 0, remaining: 40 },
    })
    expect(Date.parse(sender.held_until)).toBeGreaterThan(Date.now())
  })

  it('shows imports that ended early, for a day', async () => {
    const { db } = api.mail.context
    const list = (await insertList(db, DEFAULT_WORKSPACE, newId(), { name: 'People', description: null }))!
    const { id } = await insertImport(db, DEFAULT_WORKSPACE, newId(), list.id)
    await finishImport(db, DEFAULT_WORKSPACE, id, 'the file ended in a quote')
    expect((await overview()).attention).toEqual([
      expect.objectContaining({ kind: 'failed_imports', link: { page: 'imports', ids: [showId('imp', id)] } }),
    ])
    await api.shiftClock(25 * 60 * MINUTE)
    expect(await kinds()).toEqual([])
  })

  it('shows campaigns that are under way, and what keeps one from moving', async () => {
    const { body: list } = await api.call('POST /api/lists', { json: { name: 'Readers' } })
    await api.call(`POST /api/lists/${list.id}/contacts`, { json: { contacts: [{ email: 'ada@example.com' }] } })
    const { body: template } = await api.call('POST /api/templates', { json: { name: 'T', subject: 'S', text: 'T' } })
    const make = async (name: string) =>
      (await api.call('POST /api/campaigns', { json: { name, list_id: list.id, template_id: template.id } })).body
        .id as string
    await make('draft')
    const running = await make('running')
    await api.call(`POST /api/campaigns/${running}/launch`)
    // A busy machine may need a second look to count them.
    const counted = () =>
      until('the campaign is counted', async () => {
        const seen = await overview()
        return seen.campaigns[0].progress && seen
      })
    expect(await counted()).toMatchObject({
      campaigns: [
        { id: running, name: 'running', status: 'running', is_sequence: false, progress: { counts: { audience: 1 } } },
      ],
      attention: [],
    })
    await api.call(`POST /api/campaigns/${running}/pause`)
    expect((await counted()).campaigns).toMatchObject([{ status: 'paused', progress: { status: 'paused' } }])
    await api.call(`POST /api/campaigns/${running}/resume`)
    const [sender] = (await overview()).senders
    await api.call(`POST /api/senders/${sender.id}/pause`, { json: { reason: 'no' } })
    // What took long to count is shown for some seconds.
    const stuck = await until('the campaign is said to stand still', async () =>
      (await overview()).attention.find(({ kind: what }: { kind: string }) => what === 'campaign_stuck'),
    )
    expect(stuck).toMatchObject({ severity: 'warning', link: { page: 'campaigns', ids: [running] } })
    expect(stuck.text).toBe('Campaign “running” does not move. Its sender is paused: no.')
    await api.call(`POST /api/campaigns/${running}/cancel`)
    expect((await overview()).campaigns).toEqual([])
  })

  it('leaves no campaign out for good, however little time there is to read them', async () => {
    const { body: list } = await api.call('POST /api/lists', { json: { name: 'Readers' } })
    await api.call(`POST /api/lists/${list.id}/contacts`, { json: { contacts: [{ email: 'ada@example.com' }] } })
    const { body: template } = await api.call('POST /api/templates', { json: { name: 'T', subject: 'S', text: 'T' } })
    for (const name of ['first', 'second', 'third']) {
      const json = { name, list_id: list.id, template_id: template.id }
      const { body: made } = await api.call('POST /api/campaigns', { json })
      await api.call(`POST /api/campaigns/${made.id}/launch`)
    }
    const { context } = api.mail
    const read: number[] = []
    for (let look = 0; look < 4; look++) {
      const { shown } = await readCampaignsUnderWay(context, DEFAULT_WORKSPACE, { budgetMs: 0, patienceMs: 30_000 })
      read.push(shown.filter(({ progress }) => progress !== null).length)
    }
    expect(read).toEqual([1, 2, 3, 3])
  })

  it('waits for no campaign for long: it is read to its end, and shown to whoever looks next', async () => {
    const { body: list } = await api.call('POST /api/lists', { json: { name: 'Readers' } })
    const { body: template } = await api.call('POST /api/templates', { json: { name: 'T', subject: 'S', text: 'T' } })
    const json = { name: 'large', list_id: list.id, template_id: template.id }
    const { body: made } = await api.call('POST /api/campaigns', { json })
    await api.call(`POST /api/lists/${list.id}/contacts`, { json: { contacts: [{ email: 'ada@example.com' }] } })
    await api.call(`POST /api/campaigns/${made.id}/launch`)
    const { context } = api.mail
    const look = () => readCampaignsUnderWay(context, DEFAULT_WORKSPACE, { patienceMs: -1 })
    expect((await look()).shown).toMatchObject([{ campaign: { name: 'large' }, progress: null }])
    await until('it was read after all', async () => (await look()).shown[0]!.progress !== null)
  })

  it('tells steps of plans that failed from emails that did', async () => {
    const { db } = api.mail.context
    await db.query(
      `insert into postrider.scheduled_actions (id, workspace_id, lane_id, type, dedupe_key, run_at, state, needs_attention, reason)
       values ($1, $2, $1, 'wait', 'x', ${db.now}, 'failed', true, 'a bug')`,
      [newId(), DEFAULT_WORKSPACE],
    )
    const body = await overview()
    expect(body.failed_email_count).toBe(0)
    expect(body.attention).toEqual([
      {
        kind: 'failed_actions',
        severity: 'warning',
        count: 1,
        text: '1 planned step failed. The newest: a bug.',
        link: null,
      },
    ])
  })
})
