import { describe, expect, it } from 'vitest'
import { connect } from '../../src/db/client.js'
import { createApp } from '../../src/http/create-app.js'
import { silent } from '../support/kernel.js'
import { RETRY_POLICIES } from '../../src/domain/retry.js'
import { DATABASE_KINDS } from '../support/test-database.js'
import { type Asked, API_KEY, callApi, CRON_SECRET, openApi } from './api-fixture.js'

const LETTER = { to: 'ada@example.com', subject: 'Hello', text: 'Hello.' }

describe.each(DATABASE_KINDS)('operating the API, on %s', (kind) => {
  const api = openApi(kind)

  /** The same API with some of its parts exchanged. */
  const appWith = (changes: Partial<Parameters<typeof createApp>[0]>) => {
    const app = createApp({
      context: api.mail.context,
      metrics: {
        expose: () => Promise.resolve(''),
        contentType: 'text/plain',
        onAttempt() {},
        onSettled() {},
        onRebuilt() {},
        onPublished() {},
        onSwept() {},
        onDropped() {},
      },
      retryPolicies: RETRY_POLICIES,
      apiKey: API_KEY,
      adminPassword: null,
      publicUrl: 'http://127.0.0.1:3400',
      cronSecret: CRON_SECRET,
      rateLimit: 1_000,
      inlineDeadlineMs: 1_000,
      tick: () => Promise.resolve({}),
      isReady: () => true,
      ...changes,
    })
    return {
      app,
      call: (route: string, asked: Asked = {}) => callApi((request) => app.fetch(request), route, asked),
      close: () => app.close(),
    }
  }

  it('works when the cron says so', async () => {
    const { body } = await api.call('POST /api/emails', { json: LETTER })
    const ticked = await api.call('POST /api/cron/send-emails', { key: CRON_SECRET })
    expect(ticked.body).toMatchObject({ object: 'tick', counts: { done: 1 } })
    expect((await api.call(`GET /api/emails/${body.id}`)).body.status).toBe('sent')
  })

  it('leads people to the dashboard, and tells programs that there is nothing', async () => {
    const ask = async (publicUrl: string, accept: string) => {
      const { status, headers } = await appWith({ publicUrl }).app.fetch(
        new Request('http://localhost/', { headers: { accept } }),
      )
      return [status, headers.get('location')]
    }
    const browser = 'text/html,application/xhtml+xml,*/*;q=0.8'
    expect(await ask('http://localhost:3400', browser)).toEqual([302, './admin'])
    expect(await ask('https://example.com/mail', browser)).toEqual([302, '/mail/admin'])
    expect(await ask('http://localhost:3400', '*/*')).toEqual([302, './admin'])
    expect(await ask('http://localhost:3400', 'application/json')).toEqual([404, null])
  })

  it('has no cron without its secret, and one tick at a time with it', async () => {
    expect((await appWith({ cronSecret: null }).call('POST /api/cron/send-emails', { key: CRON_SECRET })).status).toBe(
      404,
    )
    let ticks = 0
    let finish: (counts: Record<string, number>) => void
    const tick = (forMs: number) => {
      expect(forMs).toBeLessThanOrEqual(50_000)
      ticks++
      return new Promise<Record<string, number>>((resolve) => (finish = resolve))
    }
    const { call } = appWith({ tick })
    const asked = [1, 2].map(() => call('POST /api/cron/send-emails', { key: CRON_SECRET }))
    await expect.poll(() => ticks).toBe(1)
    finish!({ done: 3 })
    for (const { body } of await Promise.all(asked)) expect(body.counts).toEqual({ done: 3 })
    const again = call('POST /api/cron/send-emails', { key: CRON_SECRET })
    await expect.poll(() => ticks).toBe(2)
    finish!({})
    await again
  })

  it('is alive and ready, until it is told to stop', async () => {
    expect((await api.call('GET /livez', { key: null })).body).toEqual({ status: 'ok' })
    expect((await api.call('GET /readyz', { key: null })).body).toEqual({ status: 'ok' })
    const stopping = appWith({ isReady: () => false })
    expect((await stopping.call('GET /readyz', { key: null })).body).toMatchObject({ status: 503, code: 'not_ready' })
    expect((await stopping.call('GET /livez', { key: null })).status).toBe(200)
  })

  it('counts for Prometheus, without an address or an id', async () => {
    await api.call('POST /api/emails', { json: LETTER })
    const { headers, body } = await api.call('GET /metrics', { key: null })
    expect(headers.get('content-type')).toMatch(/^text\/plain/)
    expect(body).toMatch(/^postrider_actions\{type="send",state="pending"\} 1$/m)
    expect(body).toMatch(/^postrider_build_info/m)
    expect(body).not.toMatch(/ada@|em_[0-9a-f]{8}/)
  })

  it('accepts nothing while the database is away, and says when to ask again', async () => {
    for (const away of [
      connect({ connection: { host: '127.0.0.1', port: 9 }, maxConnections: 1 }),
      connect({ connection: { host: '/nowhere', port: 1 }, maxConnections: 1 }),
    ]) {
      const context = {
        ...api.mail.context,
        db: away,
        accept: () => away.query('select 1').then(() => new Map<string, Date>()),
      }
      const { call } = appWith({ context })
      for (const route of ['POST /api/emails', 'GET /api/emails', 'GET /api/admin/dashboard']) {
        const json = route.startsWith('POST') ? LETTER : undefined
        for (const key of [API_KEY, `pr_${'x'.repeat(43)}`]) {
          const { status, headers, body } = await call(route, { key, json })
          expect([route, status, body.code, headers.get('retry-after')]).toEqual([
            route,
            503,
            'database_unavailable',
            '5',
          ])
          expect(body.detail).not.toMatch(/127\.0\.0\.1|ECONNREFUSED|nowhere/)
        }
      }
      expect((await call('GET /readyz', { key: null })).body.code).toBe('database_unavailable')
      expect((await call('GET /livez', { key: null })).status).toBe(200)
      await away.close()
      expect((await call('GET /readyz', { key: null })).status).toBe(503)
    }
  })

  it('is not ready when the database does not answer in time', async () => {
    const db = { ...api.mail.context.db, query: () => new Promise<never>(() => {}) }
    const started = performance.now()
    expect((await appWith({ context: { ...api.mail.context, db } }).call('GET /readyz', { key: null })).status).toBe(
      503,
    )
    expect(performance.now() - started).toBeLessThan(4_000)
  })

  it('says nothing of what went wrong inside, and tells the log', async () => {
    const logged: unknown[] = []
    const log = { ...silent, debug() {}, info() {}, warn() {}, error: (...said: unknown[]) => void logged.push(said) }
    const context = {
      ...api.mail.context,
      log: log as unknown as typeof silent,
      sendersOf: () => Promise.reject(new Error('a bug with a secret in its message')),
    }
    const { call } = appWith({ context })
    const { body } = await call('POST /api/emails', { json: LETTER, headers: { 'x-request-id': 'mine' } })
    expect(body).toMatchObject({ status: 500, code: 'internal_error' })
    expect(JSON.stringify(body)).not.toContain('secret')
    expect(JSON.stringify(logged)).toContain('"request":"mine"')
    expect(JSON.stringify(logged)).not.toMatch(/ada@example|the-key-of/)
  })

  it('counts requests per key and says when to ask again', async () => {
    const { call } = appWith({ rateLimit: 5 })
    const answers = await Promise.all(Array.from({ length: 8 }, () => call('GET /api/emails')))
    const refused = answers.filter(({ status }) => status === 429)
    expect(refused).toHaveLength(3)
    expect(answers[0]!.headers.get('ratelimit-limit')).toBe('5')
    expect(answers[0]!.headers.get('ratelimit-remaining')).toBe('4')
    expect(refused[0]!.body).toMatchObject({ code: 'rate_limited' })
    expect(refused[0]!.headers.get('retry-after')).toBe('1')
    expect(refused[0]!.headers.get('ratelimit-remaining')).toBe('0')
    const other = await api.makeKey(['read'])
    expect((await call('GET /api/emails', { key: other })).status).toBe(200)
    expect((await call('GET /livez', { key: null })).status).toBe(200)
    await expect.poll(async () => (await call('GET /api/emails')).status, { timeout: 3_000, interval: 300 }).toBe(200)
  })

  it('counts keys that are none per address, and locks out nobody who has one', async () => {
    const { app } = appWith({})
    const ask = (key: string, remoteAddress: string) =>
      callApi((request) => app.fetch(request, { incoming: { socket: { remoteAddress } } }), 'GET /api/emails', { key })
    const guesses = await Promise.all(Array.from({ length: 30 }, (_, i) => ask(`pr_guess${i}`, '192.0.2.1')))
    const statuses = guesses.map(({ status }) => status)
    expect(statuses.filter((status) => status === 401)).toHaveLength(20)
    expect(statuses.filter((status) => status === 429)).toHaveLength(10)
    expect((await ask('pr_guess', '192.0.2.2')).status).toBe(401)
    expect((await ask(API_KEY, '192.0.2.1')).status).toBe(200)
  })
})
