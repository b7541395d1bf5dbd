import pg from 'pg'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Database } from '../../src/db/client.js'
import { EventStream } from '../../src/http/event-stream.js'
import { serve } from '../../src/http/serve.js'
import { DEFAULT_WORKSPACE, newId, readId } from '../../src/id.js'
import { createWatcher, type News, type WatchOptions } from '../../src/operations/watch-changes.js'
import { DATABASE_KINDS } from '../support/test-database.js'
import { until } from '../support/until.js'
import { API_KEY, openApi } from './api-fixture.js'

const FAST = { tickMs: 20 }

describe.each(DATABASE_KINDS)('the stream, on %s', (kind) => {
  const api = openApi(kind, { smtpUrl: null })
  const db = () => api.mail.context.db
  const send = async (subject: string, extra: object = {}) =>
    (await api.call('POST /api/emails', { json: { to: 'ada@example.com', subject, text: 'Hi', ...extra } })).body
      .id as string

  /** Somebody who writes down what they are told. */
  async function look(after: string | null = null, options: WatchOptions = FAST, base: Database = db()) {
    const watcher = createWatcher({ db: base, log: api.mail.context.log }, options)
    onTestFinished(() => watcher.close())
    const told: News[] = []
    const seen = { resets: 0, ends: 0 }
    const spectator = {
      tell(news: News, again?: true) {
        if (again) seen.resets++
        told.push(news)
      },
      end: () => void seen.ends++,
    }
    const leave = await watcher.watch(DEFAULT_WORKSPACE, after, spectator)
    const changes = (what: string) =>
      told.flatMap(({ groups }) => groups.filter((group) => group.kind === what)).flatMap(({ samples }) => samples)
    const count = (what: string) =>
      told
        .flatMap(({ groups }) => groups.filter((group) => group.kind === what))
        .reduce((sum, group) => sum + group.count, 0)
    const abouts = (what: string) => changes(what).map(({ about }) => about)
    return { watcher, spectator, told, seen, leave: leave!, changes, count, abouts, cursor: () => told.at(-1)!.cursor }
  }

  it('tells what happens to emails, campaigns, senders and imports, and nothing of other workspaces', async () => {
    const { key } = await api.elsewhere()
    const looking = await look()
    const id = readId('em', await send('Hello'))!
    await api.call('POST /api/emails', { key, json: { to: 'b@example.com', subject: 'elsewhere', text: 'T' } })
    await api.drain()
    await until('the attempt is told', () => looking.count('attempt') > 0)
    expect(looking.changes('accepted')).toMatchObject([{ id, what: 'accepted', about: 'Hello' }])
    expect(looking.changes('attempt')).toMatchObject([{ id, what: 'accepted' }])
    const { body: list } = await api.call('POST /api/lists', { json: { name: 'Readers' } })
    await api.call(`POST /api/lists/${list.id}/import`, {
      body: 'email\nada@example.com\n',
      headers: { 'content-type': 'text/csv' },
    })
    const { body: template } = await api.call('POST /api/templates', { json: { name: 'T', subject: 'S', text: 'T' } })
    const { body: campaign } = await api.call('POST /api/campaigns', {
      json: { name: 'News', list_id: list.id, template_id: template.id },
    })
    await api.call(`POST /api/campaigns/${campaign.id}/launch`)
    await api.drain()
    const { body: senders } = await api.call('GET /api/senders')
    await api.call(`POST /api/senders/${senders.data[0].id}/pause`, { json: { reason: 'tired' } })
    await until('the pause is told', () => looking.changes('sender').some(({ what }) => what === 'paused'))
    await api.call(`POST /api/senders/${senders.data[0].id}/resume`)
    await until('the end of the pause is told', () => looking.changes('sender').some(({ what }) => what === 'active'))
    await api.call('POST /api/events/send', { json: { event: 'clicked', email_id: `em_${id.replaceAll('-', '')}` } })
    await until('the event is told', () => looking.count('event') > 0)
    await until('the campaign is told', () => looking.changes('campaign').some(({ what }) => what === 'sent'))
    expect(looking.changes('planned')).toMatchObject([{ about: 'ada@example.com' }])
    expect(looking.changes('import').at(-1)).toMatchObject({ what: 'done' })
    expect(JSON.stringify(looking.told)).not.toContain('elsewhere')
  })

  it('counts what is too much to be told one by one, and tells some of it', async () => {
    const looking = await look()
    const first = readId('em', await send('First'))!
    await until('the first is told', () => looking.count('accepted') === 1)
    const ids = Array.from({ length: 1_500 }, newId)
    for (let place = 0; place < ids.length; place += 100)
      await db().query(
        `insert into postrider.messages select (jsonb_populate_record(message, jsonb_build_object('id', given.id, 'created_at', ${db().now}))).*
         from postrider.messages message, unnest($2::uuid[]) as given (id) where message.id = $1`,
        [first, ids.slice(place, place + 100)],
      )
    await until('all are told', () => looking.count('accepted') === 1_501)
    const groups = looking.told.flatMap((news) => news.groups)
    for (const { samples } of groups) expect(samples.length).toBeLessThanOrEqual(20)
    const sampled = groups.flatMap(({ samples }) => samples.map(({ id }) => id))
    expect(new Set(sampled).size).toBe(sampled.length)
  })

  it('goes on from a cursor, tells what was missed, and says when that is too long ago', async () => {
    const first = await look()
    await send('One')
    await until('one is told', () => first.count('accepted') === 1)
    const cursor = first.cursor()
    first.leave()
    await send('Two')
    const second = await look(cursor)
    expect(second.abouts('accepted')).toContain('Two')
    expect(second.seen.resets).toBe(0)
    await send('Three')
    await until('three is told', () => second.abouts('accepted').includes('Three'))
    for (const nowhere of [new Date(Date.now() - 3_600_000).toISOString(), '2040-01-01T00:00:00Z', 'nonsense']) {
      const lost = await look(nowhere)
      expect([nowhere, lost.seen.resets, lost.count('accepted')]).toEqual([nowhere, 1, 0])
      const again = await look(lost.cursor())
      expect(again.seen.resets).toBe(0)
    }
  })

  it('reads for all of a workspace at once, and not at all when nobody looks', async () => {
    let looks = 0
    const counting: Database = {
      ...db(),
      query: (statement, values, options) => {
        if (statement.includes('pg_stat_activity')) looks++
        return db().query(statement, values, options)
      },
    }
    const one = await look(null, FAST, counting)
    const told: News[] = []
    const other = await one.watcher.watch(DEFAULT_WORKSPACE, null, {
      ...one.spectator,
      tell: (news) => void told.push(news),
    })
    await until('it is read', () => looks > 5)
    await send('For both')
    await until('both are told', () => one.count('accepted') === 1 && told.some(({ groups }) => groups.length > 0))
    one.leave()
    other!()
    const after = looks
    await send('For nobody')
    await db().query('select 1')
    // One look may have been under way when the last of them left.
    expect(looks).toBeLessThanOrEqual(after + 1)
    one.watcher.close()
    expect(one.seen.ends).toBe(0)
    const full = await look(null, { ...FAST, mostSpectators: 1 })
    expect(await full.watcher.watch(DEFAULT_WORKSPACE, null, full.spectator)).toBeNull()
    full.watcher.close()
    expect(full.seen.ends).toBe(1)
  })

  it('ends with the server, and with Postrider, and never keeps them from ending', async () => {
    const serving = await serve(api.mail, { host: '127.0.0.1', port: 0 })
    const headers = { authorization: `Bearer ${API_KEY}` }
    const response = await fetch(`${serving.url}/api/events/stream`, { headers })
    expect(response.headers.get('content-type')).toBe('text/event-stream')
    const reader = response.body!.getReader()
    const { value } = await reader.read()
    expect(new TextDecoder().decode(value)).toMatch(/^retry: \d+\n\n/)
    await serving.close()
    for (;;) if ((await reader.read()).done) break

    const other = await api.another()
    const mounted = await other.fetch(new Request('http://localhost/api/events/stream', { headers }))
    const ended = mounted.text()
    await other.stop()
    expect(await ended).toContain('stream.open')
  })
})

describe('a client of the stream', () => {
  const NEWS: News = { cursor: '2026-11-17T00:00:00.000Z', groups: [] }

  it('that does not read is let go', async () => {
    const stream = new EventStream()
    let left = 0
    stream.whenOver(() => left++)
    let told = 0
    while (left === 0 && told < 10_000) {
      stream.tell(NEWS)
      told++
    }
    expect(told).toBeLessThan(1_000)
    stream.tell(NEWS)
    // What it was told before is still there for whoever comes to it at last, and then it is over.
    expect((await new Response(stream.body).text()).match(/^id: /gm)!.length).toBeLessThan(told)
  })

  it('that reads stays, and leaves when it goes', async () => {
    const stream = new EventStream()
    let left = 0
    stream.whenOver(() => left++)
    const reader = stream.body.getReader()
    for (let told = 0; told < 1_000; told++) {
      stream.tell(NEWS)
      await reader.read()
    }
    expect(left).toBe(0)
    await reader.cancel()
    expect(left).toBe(1)
    stream.tell(NEWS)
    stream.end()
    expect(left).toBe(1)
  })
})

describe('the stream, with transactions that commit in another order than they began', () => {
  const api = openApi('PostgreSQL', { smtpUrl: null })
  const letter = (subject: string) => ({ to: 'ada@example.com', subject, text: 'Hi' })
  const openClient = async () => {
    const { databaseUrl } = api.database.location as { databaseUrl: string }
    const client = new pg.Client(databaseUrl)
    await client.connect()
    onTestFinished(() => client.end())
    return client
  }
  const listen = async () => {
    const { db, log } = api.mail.context
    const watcher = createWatcher({ db, log }, FAST)
    onTestFinished(() => watcher.close())
    const told: News[] = []
    await watcher.watch(DEFAULT_WORKSPACE, null, { tell: (news) => void told.push(news), end: () => undefined })
    return {
      told,
      subjects: () =>
        told
          .flatMap(({ groups }) => groups.filter((group) => group.kind === 'accepted'))
          .flatMap(({ samples }) => samples.map(({ about }) => about!)),
    }
  }

  it('tells of one that others have long overtaken', async () => {
    const client = await openClient()
    const { subjects } = await listen()
    await client.query('begin')
    await api.mail.emails.send(letter('slow'), { tx: client })
    // Each of these is told by a look of its own: a window of a fixed number of looks would have moved on.
    for (let i = 0; i < 30; i++) {
      await api.mail.emails.send(letter(`fast ${i}`))
      await until('it is told', () => subjects().includes(`fast ${i}`))
    }
    expect(subjects()).not.toContain('slow')
    await client.query('commit')
    await until('the slow one is told', () => subjects().includes('slow'))
    expect(subjects()).toHaveLength(31)
  })

  it('tells of each once, however long each takes', async () => {
    const { subjects, told } = await listen()
    const clients = await Promise.all(Array.from({ length: 6 }, openClient))
    let rolledBack = 0
    await Promise.all(
      clients.map(async (client, c) => {
        for (let i = 0; i < 12; i++) {
          await client.query('begin')
          await client.query(`select pg_sleep($1)`, [((c * 7 + i * 13) % 10) / 100])
          await client.query('savepoint before')
          await api.mail.emails.send(letter(`${c}:${i}`), { tx: client })
          await client.query(`select pg_sleep($1)`, [((c * 5 + i * 3) % 10) / 50])
          if ((c + i) % 6 === 0) {
            rolledBack++
            await client.query('rollback')
          } else await client.query('commit')
        }
      }),
    )
    const expected = 6 * 12 - rolledBack
    await until('all are told', () => new Set(subjects()).size === expected)
    expect(subjects()).toHaveLength(expected)
    // What was told last leads on to nothing.
    const { db, log } = api.mail.context
    const watcher = createWatcher({ db, log }, FAST)
    onTestFinished(() => watcher.close())
    const again: News[] = []
    await until('everything is decided', async () => {
      again.length = 0
      const leave = await watcher.watch(DEFAULT_WORKSPACE, told.at(-1)!.cursor, {
        tell: (news) => void again.push(news),
        end: () => undefined,
      })
      leave!()
      return true
    })
    for (const { groups } of again)
      for (const { samples } of groups) for (const { about } of samples) expect(subjects()).toContain(about)
  })
})
