import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Database } from '../../src/db/client.js'
import { rollUpThroughput } from '../../src/db/throughput.js'
import { readId } from '../../src/id.js'
import { DATABASE_KINDS, openTestDatabase } from '../support/test-database.js'
import { until } from '../support/until.js'
import { openApi } from './api-fixture.js'

const MINUTE = 60_000

describe.each(DATABASE_KINDS)('what the dashboard counts, on %s', (kind) => {
  const api = openApi(kind, { smtpUrl: null })
  const send = async (subject: string, more: object = {}) =>
    (await api.call('POST /api/emails', { json: { to: 'ada@example.com', subject, text: 'Hi', ...more } })).body
  const sums = async (range: string) => {
    const { body } = await api.call(`GET /api/admin/throughput?range=${range}`)
    const buckets = body.buckets as { start: string; sent: number; failed: number }[]
    return { count: buckets.length, sent: buckets.reduce((sum, { sent }) => sum + sent, 0), last: buckets.at(-1)! }
  }

  it('is the same before and after minutes are rolled up, and counts nothing twice', async () => {
    await send('one')
    await send('two')
    await api.drain()
    expect(await sums('1h')).toMatchObject({ count: 60, sent: 2, last: { sent: 2 } })
    await api.shiftClock(3 * MINUTE)
    const { db } = api.mail.context
    while (await rollUpThroughput(db));
    while (await rollUpThroughput(db));
    const { rows } = await db.query('select sum(sent)::int as sent from postrider.throughput_minutes')
    expect(rows).toEqual([{ sent: 2 }])
    await send('three')
    await api.drain()
    expect(await sums('1h')).toMatchObject({ sent: 3, last: { sent: 1 } })
    expect(await sums('24h')).toMatchObject({ count: 96, sent: 3 })
    expect(await sums('7d')).toMatchObject({ count: 84, sent: 3 })
  })

  it('is the same however far it was counted, each attempt once, also of those of one instant', async () => {
    await send('one')
    await api.drain()
    const { db } = api.mail.context
    await db.query(
      `insert into postrider.attempts (action_id, id, at, outcome, phase, reply, duration_ms, worker, inline)
       select action_id, gen_random_uuid(), at + after * interval '1 microsecond', outcome, phase, reply, 1, worker, inline
       from postrider.attempts, unnest('{0, 0, 0, 0, 300, 900, 1200, 1999, 2000, 70000000}'::int[]) after`,
    )
    await api.shiftClock(3 * MINUTE)
    let slices = 0
    do {
      expect(await sums('1h')).toMatchObject({ sent: 11 })
      slices++
    } while (await rollUpThroughput(db, 2))
    expect(slices).toBeGreaterThan(3)
    expect(await sums('1h')).toMatchObject({ sent: 11 })
    const { rows } = await db.query<{ sent: number }>('select sent from postrider.throughput_minutes')
    expect(rows.length).toBeGreaterThan(1)
    expect(rows.reduce((sum, { sent }) => sum + sent, 0)).toBe(11)
  })

  it('counts an email whose last attempt was put off as failed, and those before as retried', async () => {
    const { id } = await send('never')
    const { db } = api.mail.context
    const attempt = (minutes: number, state: string) =>
      db.query(
        `with action as (
           update postrider.scheduled_actions set state = $3, state_at = ${db.now} - $2 * interval '1 minute',
             needs_attention = $3 = 'failed' where message_id = $1 returning id, state_at)
         insert into postrider.attempts (action_id, id, at, outcome, failure, phase, reply, duration_ms, worker, inline)
         select id, gen_random_uuid(), state_at, 'deferred', 'transient', 'rcpt', '451', 1, 'w', false from action`,
        [readId('em', id as string), minutes, state],
      )
    await attempt(9, 'pending')
    await attempt(6, 'pending')
    await attempt(3, 'failed')
    const count = async () => {
      const { body } = await api.call('GET /api/admin/throughput?range=1h')
      const buckets = body.buckets as { failed: number; retried: number }[]
      const sum = (name: 'failed' | 'retried') => buckets.reduce((all, bucket) => all + bucket[name], 0)
      return [sum('failed'), sum('retried')]
    }
    expect(await count()).toEqual([1, 2])
    while (await rollUpThroughput(db));
    expect(await count()).toEqual([1, 2])
  })

  it('is what waits, by the hour it is due', async () => {
    const inHours = (hours: number) => new Date(Date.now() + hours * 60 * MINUTE).toISOString()
    await send('soon', { scheduled_at: inHours(1.5) })
    await send('later', { scheduled_at: inHours(5.5) })
    await send('never', { scheduled_at: inHours(40) })
    const { body } = await api.call('GET /api/admin/upcoming?hours=24')
    const emails = (body.buckets as { emails: number }[]).map((bucket) => bucket.emails)
    expect([emails.length, emails[1], emails[5], emails.reduce((sum, count) => sum + count, 0)]).toEqual([24, 1, 1, 2])
  })

  it('shows the settings in force', async () => {
    const { body } = await api.call('GET /api/admin/settings')
    expect(body).toMatchObject({
      object: 'settings',
      database: kind === 'PostgreSQL' ? 'postgresql' : 'embedded',
      workers: [],
    })
    await send('by somebody')
    await api.drain()
    const { workers } = (await api.call('GET /api/admin/settings')).body
    expect(workers).toMatchObject([{ worker: expect.stringContaining(`:${process.pid}:`) }])
    await api.shiftClock(6 * MINUTE)
    expect((await api.call('GET /api/admin/settings')).body.workers).toEqual([])
  })

  it('tells those who look on what happens, from where they stopped, and ends when they leave', async () => {
    const listen = async (after?: string) => {
      const key = await api.makeKey(['read'])
      const query = after === undefined ? '' : `?after=${encodeURIComponent(after)}`
      const response = await api.mail.fetch(
        new Request(`http://localhost/api/events/stream${query}`, { headers: { authorization: `Bearer ${key}` } }),
      )
      expect(response.headers.get('content-type')).toBe('text/event-stream')
      const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
      let heard = ''
      const ended = (async () => {
        for (let next = await reader.read(); !next.done; next = await reader.read()) heard += next.value
      })()
      return {
        heard: () => heard,
        ended,
        leave: () => reader.cancel(),
        lastId: () => [...heard.matchAll(/^id: (.*)$/gm)].at(-1)?.[1],
      }
    }
    const first = await listen()
    await until('it is open', () => first.heard().includes('stream.open'))
    await send('told')
    await api.drain()
    await until('it is told', () => /email\.attempted.*accepted/.test(first.heard()))
    expect(first.heard()).toContain('"about":"told"')
    expect(first.heard().match(/email\.accepted/g)).toHaveLength(1)
    const id = first.lastId()!
    await first.leave()
    await first.ended

    await send('missed')
    const second = await listen(id)
    await until('what was missed is told', () => second.heard().includes('"about":"missed"'))
    const third = await listen(new Date(Date.now() - 3_600_000).toISOString())
    await until('too long ago', () => third.heard().includes('event: reset'))
    await second.leave()
    await third.leave()
  })
})

// The embedded database has one session: there, whoever holds a transaction open holds everybody up.
describe('a process that froze in the middle of its first count, on PostgreSQL', () => {
  it('holds nobody else up who counts', async () => {
    const { db, clear, close } = await openTestDatabase('PostgreSQL')
    onTestFinished(close)
    await clear()
    let thaw = (): void => undefined
    const thawed = new Promise<void>((resolve) => (thaw = resolve))
    // In an object, or this would wait for what is frozen.
    const { counted: frozen } = await new Promise<{ counted: Promise<boolean> }>((resolve) => {
      const freezing: Database = {
        ...db,
        transaction: (work) =>
          db.transaction((tx) =>
            work({
              ...tx,
              async query(text, values, options) {
                const answer = await tx.query<never>(text, values, options)
                resolve({ counted })
                await thawed
                return answer
              },
            }),
          ),
      }
      const counted = rollUpThroughput(freezing)
    })
    try {
      expect(await Promise.race([rollUpThroughput(db), sleep(10_000, 'held up', { ref: false })])).toBe(false)
    } finally {
      thaw()
      await frozen
    }
  })
})
