import { describe, expect, it } from 'vitest'
import { createLoginLimit } from '../../src/http/login-limit.js'
import { hashPassword, isPassword } from '../../src/operations/passwords.js'
import { DATABASE_KINDS } from '../support/test-database.js'
import { ADMIN_PASSWORD, cookieOf, openDashboard, PASSWORD } from './dashboard-fixture.js'

const LOGIN = 'POST /api/admin/login'
/** Changes something, needs nothing, and can be repeated. */
const ACT = 'POST /api/admin/outbox/retry'

/** Headers beside the cookie, and whether the request may act. It is asked of http://localhost. */
const REQUESTS: readonly [string, Record<string, string>, boolean][] = [
  ['a page of the dashboard', { 'sec-fetch-site': 'same-origin', origin: 'http://localhost' }, true],
  ['a page of the dashboard in an old browser', { origin: 'http://localhost' }, true],
  ['no browser at all', {}, true],
  ['a page behind a proxy that ends TLS', { origin: 'https://localhost' }, true],
  ['a page where PUBLIC_URL says', { 'sec-fetch-site': 'same-origin', origin: 'https://mail.example.com' }, true],
  ['a page without the header', { 'x-postrider-dashboard': '' }, false],
  ['a page with another header', { 'x-postrider-dashboard': 'true' }, false],
  ['another site', { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }, false],
  ['another site in an old browser', { origin: 'https://evil.example' }, false],
  ['a site beside it', { 'sec-fetch-site': 'same-site', origin: 'https://other.example.com' }, false],
  ['a site beside it that hides its origin', { 'sec-fetch-site': 'same-site' }, false],
  ['another port', { origin: 'http://localhost:8080' }, false],
  ['PUBLIC_URL without TLS', { origin: 'http://mail.example.com' }, false],
  ['a name that begins like ours', { origin: 'https://mail.example.com.evil.example' }, false],
  ['a frame without an origin', { 'sec-fetch-site': 'same-origin', origin: 'null' }, false],
  ['something that is no origin', { origin: 'localhost' }, false],
  ['another scheme', { origin: 'ftp://localhost' }, false],
]

describe.each(DATABASE_KINDS)('nobody acts for somebody else, on %s', (kind) => {
  const { api, ask } = openDashboard(kind, { adminPassword: ADMIN_PASSWORD, publicUrl: 'https://mail.example.com' })

  it.each(REQUESTS)('%s', async (_, headers, allowed) => {
    const { cookie } = await api.logIn('operator')
    const { status, body } = await ask(ACT, { cookie, headers })
    expect([status, body.code]).toEqual(allowed ? [200, undefined] : [403, 'cross_site_request'])
    // A login is checked in the same way: nobody is logged in as somebody else without noticing.
    const login = await ask(LOGIN, { json: { password: ADMIN_PASSWORD }, headers })
    expect([login.status, cookieOf(login) !== undefined]).toEqual(allowed ? [200, true] : [403, false])
    // Looking is always allowed: no other site can read the answer.
    const look = await ask('GET /api/admin/outbox', { cookie, headers })
    expect([look.status, look.headers.get('access-control-allow-origin')]).toEqual([200, null])
    // And a key is its own proof.
    const { 'x-postrider-dashboard': _header, ...rest } = headers
    expect((await api.call(ACT, { headers: rest })).status).toBe(200)
  })

  it('and a browser that asks first gets no permission', async () => {
    const answer = await api.mail.fetch(
      new Request('http://localhost/api/admin/outbox/retry', {
        method: 'OPTIONS',
        headers: {
          origin: 'https://evil.example',
          'access-control-request-method': 'POST',
          'access-control-request-headers': 'x-postrider-dashboard',
        },
      }),
    )
    expect(answer.status).toBe(405)
    for (const [name] of answer.headers) expect(name).not.toMatch(/^access-control-/)
  })
})

// Counting is the process's own: the database has no part in it.
describe('guessing is of no use', () => {
  const { api, ask, enter, link } = openDashboard('PostgreSQL', { adminPassword: ADMIN_PASSWORD })
  const guess = async (name: string, address: string, password = 'a wrong guess') =>
    ask(LOGIN, { json: { name, password }, address })

  it('ten wrong passwords of one name close it for a quarter of an hour, wherever they came from', async () => {
    const answers = await Promise.all(Array.from({ length: 12 }, (_, i) => guess('admin', `10.0.0.${i}`)))
    const codes = answers.map(({ body }) => body.code as string)
    expect(codes.filter((code) => code === 'login_failed')).toHaveLength(10)
    expect(codes.filter((code) => code === 'rate_limited')).toHaveLength(2)
    const closed = await guess('ADMIN', '10.0.1.1', ADMIN_PASSWORD)
    expect(closed.body).toMatchObject({
      status: 429,
      detail: expect.stringContaining('postrider admin link') as string,
    })
    expect(Number(closed.headers.get('retry-after'))).toBeGreaterThan(800)
    // Others can still log in, and so can admin with a link.
    expect((await guess('ada', '10.0.0.1')).status).toBe(401)
    await enter('ada')
    // What was refused unheard is not in the log: it would be full of it.
    const { rows } = await api.database.db.query(`select from postrider.audit_log where actor = 'admin'`)
    expect(rows).toHaveLength(10)
  }, 60_000)

  it('a wrong name, a wrong password and a user without one are told the same', async () => {
    await enter('ada', 'viewer')
    await link('new', 'viewer')
    const answers = [
      await guess('ada', '10.3.0.1'),
      await guess('nobody', '10.3.0.1'),
      await guess('new', '10.3.0.1', ''),
      await guess('no name at all!', '10.3.0.1'),
      await guess('admin', '10.3.0.1'),
    ]
    for (const { status, body } of answers)
      expect([status, body.code, body.detail]).toEqual([401, 'login_failed', 'The name or the password is wrong.'])
  }, 60_000)

  it('is counted per name and per address, and not when it was no guess', async () => {
    const limit = createLoginLimit()
    for (let i = 0; i < 100; i++) await (await limit.attempt('10.0.0.1', 'ada')).forgive()
    for (let i = 0; i < 50; i++) await limit.attempt('10.0.0.1', `name-${i % 25}`)
    await expect(limit.attempt('10.0.0.1', 'name-1')).rejects.toMatchObject({ code: 'rate_limited' })
    await expect(limit.attempt('10.0.0.1', 'ada')).rejects.toMatchObject({ code: 'rate_limited' })
    await limit.attempt('10.0.0.2', 'ada')
    for (let i = 0; i < 8; i++) await limit.attempt(undefined, 'name-1')
    await expect(limit.attempt(undefined, 'name-1')).rejects.toMatchObject({ code: 'rate_limited' })
    await expect(limit.attempt('10.0.0.3', 'name-1')).rejects.toMatchObject({ code: 'rate_limited' })
    await limit.attempt('10.0.0.3', null)
  })
})

it('whether there is a password cannot be told by the time it takes to say no', async () => {
  const stored = await hashPassword(PASSWORD)
  const fastest = async (hash: string | null) => {
    const times: number[] = []
    for (let i = 0; i < 3; i++) {
      // Of the processor, and not of the clock: others use this machine, too.
      const before = process.cpuUsage()
      expect(await isPassword('a wrong guess', hash)).toBe(false)
      times.push(process.cpuUsage(before).user)
    }
    return Math.min(...times)
  }
  expect(await isPassword(PASSWORD, stored)).toBe(true)
  expect(await isPassword(PASSWORD.normalize('NFD'), stored)).toBe(true)
  const [known, unknown] = [await fastest(stored), await fastest(null)]
  // Without the work it would be a thousandth.
  expect(unknown / known).toBeGreaterThan(0.3)
  expect(unknown / known).toBeLessThan(3)
})
