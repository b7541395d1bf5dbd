import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { prune } from '../../src/engine/pruner.js'
import { DATABASE_KINDS } from '../support/test-database.js'
import { ADMIN_PASSWORD, askAs, cookieOf, openDashboard, PASSWORD } from './dashboard-fixture.js'

const HOUR = 3_600_000
const LOGIN = 'POST /api/admin/login'
const SETUP = 'POST /api/admin/setup'
const SESSION = 'GET /api/admin/session'

describe.each(DATABASE_KINDS)('with POSTRIDER_ADMIN_PASSWORD, on %s', (kind) => {
  const { api, ask, link } = openDashboard(kind, { adminPassword: ADMIN_PASSWORD })
  const logIn = async (json: unknown = { password: ADMIN_PASSWORD }) => ask(LOGIN, { json })

  it('lets admin in with it, by name or without, and nobody with another', async () => {
    for (const json of [{ password: ADMIN_PASSWORD }, { name: ' Admin', password: ADMIN_PASSWORD }]) {
      const { status, body } = await logIn(json)
      expect(status).toBe(200)
      expect(body).toMatchObject({
        object: 'session',
        kind: 'user',
        name: 'admin',
        role: 'operator',
        workspace: 'default',
      })
    }
    for (const json of [
      { password: `${ADMIN_PASSWORD}.` },
      { password: '' },
      { name: 'ada', password: ADMIN_PASSWORD },
    ]) {
      const refused = await logIn(json)
      expect([refused.status, refused.body.code, cookieOf(refused)]).toEqual([401, 'login_failed', undefined])
    }
  })

  it('stores neither the password nor the token', async () => {
    const token = cookieOf(await logIn())!.split('=')[1]!
    const { rows } = await api.database.db.query<{ token_hash: string; stored: string }>(
      `select token_hash, session::text as stored from postrider.dashboard_sessions session`,
    )
    expect(rows.map(({ token_hash }) => token_hash)).toEqual([createHash('sha256').update(token).digest('hex')])
    expect(rows[0]!.stored).not.toContain(token)
    expect(rows[0]!.stored).not.toContain(ADMIN_PASSWORD)
    const { rows: users } = await api.database.db.query(`select * from postrider.dashboard_users`)
    expect(users).toEqual([])
  })

  it('is over when the setting changes or is gone', async () => {
    const cookie = cookieOf(await logIn())
    const statusWith = async (adminPassword: string | null) => {
      const other = await api.another({ adminPassword })
      return (await askAs((request, env) => other.fetch(request, env), SESSION, { cookie })).status
    }
    expect(await statusWith(ADMIN_PASSWORD)).toBe(200)
    expect(await statusWith('another password')).toBe(401)
    expect(await statusWith(null)).toBe(401)
  })

  it('is the only password of admin: a link, a stored one and its sessions do not count', async () => {
    const other = await api.another({ adminPassword: null })
    const { token } = await link()
    const elsewhere = (route: string, sent: object) => askAs((request, env) => other.fetch(request, env), route, sent)
    const refused = await ask(SETUP, { json: { token, password: PASSWORD } })
    expect([refused.status, refused.body.code]).toEqual([409, 'user_conflict'])
    const cookie = cookieOf(await elsewhere(SETUP, { json: { token, password: PASSWORD } }))
    expect((await elsewhere(SESSION, { cookie })).status).toBe(200)
    expect((await ask(SESSION, { cookie })).status).toBe(401)
    expect((await logIn({ password: PASSWORD })).status).toBe(401)
    expect((await logIn()).status).toBe(200)
  })
})

describe.each(DATABASE_KINDS)('with a link, on %s', (kind) => {
  const { api, ask, link, enter } = openDashboard(kind)
  const setUp = async (token: string, password = PASSWORD) => ask(SETUP, { json: { token, password } })

  it('somebody chooses a password, is in, and logs in with it from then on', async () => {
    const { token } = await link('Ada', 'viewer')
    const { status, body } = await setUp(token)
    expect(status).toBe(200)
    expect(body).toMatchObject({ name: 'ada', role: 'viewer', scopes: ['read'] })
    const again = await ask(LOGIN, { json: { name: 'ADA', password: PASSWORD } })
    expect(again.status).toBe(200)
    expect((await ask(SESSION, { cookie: cookieOf(again) })).body).toEqual(again.body)
    expect((await ask(LOGIN, { json: { name: 'ada', password: `${PASSWORD}.` } })).status).toBe(401)
    const { rows } = await api.database.db.query<{ password_hash: string }>(
      `select password_hash from postrider.dashboard_users`,
    )
    expect(rows[0]!.password_hash).toMatch(/^scrypt\$32768\$8\$3\$[\w-]{22}\$[\w-]{43}$/)
  })

  it('takes no password that is too short, too long or no password', async () => {
    const { token } = await link()
    for (const password of ['', 'nine char', 'x'.repeat(500), 'aaaaaaaaaaaa']) {
      const refused = await setUp(token, password)
      expect([refused.status, refused.body.code, refused.body.errors[0].pointer]).toEqual([
        422,
        'password_invalid',
        '/password',
      ])
    }
    expect((await setUp(token, 'nine chär?')).status).toBe(200)
  })

  it('works once, for 24 hours, and not when a newer one was made', async () => {
    const expectSpent = async (token: string) => {
      const { status, body } = await setUp(token)
      expect([status, body.code]).toEqual([410, 'link_invalid'])
    }
    const [first, second] = [await link(), await link()]
    await expectSpent(first.token)
    expect((await setUp(second.token)).status).toBe(200)
    await expectSpent(second.token)
    const third = await link()
    await api.shiftClock(24 * HOUR + 1_000)
    await expectSpent(third.token)
    await expectSpent('x'.repeat(43))
    await expectSpent('nothing like a token')
  })

  it('lets one of two in who use it at once', async () => {
    const { token } = await link()
    const answers = await Promise.all([setUp(token, `${PASSWORD} 1`), setUp(token, `${PASSWORD} 2`)])
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 410]))
    const winner = answers.findIndex(({ status }) => status === 200)
    expect((await ask(LOGIN, { json: { password: `${PASSWORD} ${winner + 1}` } })).status).toBe(200)
    expect((await ask(LOGIN, { json: { password: `${PASSWORD} ${2 - winner}` } })).status).toBe(401)
    expect((await ask(SESSION, { cookie: cookieOf(answers[winner]!) })).status).toBe(200)
  })

  it('ends every other session of whoever chose a new password', async () => {
    const before = await enter()
    const others = await enter('ada')
    const { token } = await link()
    expect((await ask(SESSION, { cookie: before })).status).toBe(200)
    const after = cookieOf(await setUp(token, 'another password'))
    expect((await ask(SESSION, { cookie: before })).status).toBe(401)
    for (const cookie of [after, others]) expect((await ask(SESSION, { cookie })).status).toBe(200)
    expect((await ask(LOGIN, { json: { password: PASSWORD } })).status).toBe(401)
  })
})

describe.each(DATABASE_KINDS)('a session, on %s', (kind) => {
  const { api, ask, enter } = openDashboard(kind, { adminPassword: ADMIN_PASSWORD })
  const logIn = async (cookie?: string) => ask(LOGIN, { json: { password: ADMIN_PASSWORD }, cookie })
  const isOpen = async (cookie: string | undefined) => (await ask(SESSION, { cookie })).status === 200

  it('is a cookie that no script reads and no other site sends', async () => {
    const answer = await logIn()
    expect(answer.headers.get('set-cookie')).toMatch(
      /^postrider_session=[\w-]{43}; Path=\/; Max-Age=2592000; HttpOnly; SameSite=Strict$/,
    )
    const secure = await api.another({ publicUrl: 'https://mail.example.com/post' })
    const other = await askAs((request, env) => secure.fetch(request, env), LOGIN, {
      json: { password: ADMIN_PASSWORD },
    })
    expect(other.headers.get('set-cookie')).toMatch(/; HttpOnly; SameSite=Strict; Secure$/)
    for (const [name] of answer.headers) expect(name).not.toMatch(/^access-control-/)
  })

  it('has a token that nobody could have known before: the one the browser brought is over', async () => {
    const planted = cookieOf(await logIn())
    const answer = await logIn(planted)
    expect(cookieOf(answer)).not.toBe(planted)
    expect(await isOpen(planted)).toBe(false)
    expect(await isOpen(cookieOf(answer))).toBe(true)
    // One that was never a session does not become one.
    const invented = `postrider_session=${'A'.repeat(43)}`
    await logIn(invented)
    expect(await isOpen(invented)).toBe(false)
  })

  it('ends by logging out, and only that one', async () => {
    const [one, other] = [cookieOf(await logIn()), cookieOf(await logIn())]
    const answer = await ask('POST /api/admin/logout', { cookie: one })
    expect(answer.headers.get('set-cookie')).toMatch(/^postrider_session=; Path=\/; Max-Age=0;/)
    expect([await isOpen(one), await isOpen(other)]).toEqual([false, true])
  })

  it('ends after 12 hours of silence, and after 30 days in all', async () => {
    const [silent, busy] = [cookieOf(await logIn()), cookieOf(await logIn())]
    for (let hours = 0; hours < 30 * 24 - 11; hours += 11) {
      expect(await isOpen(busy), `after ${hours} hours`).toBe(true)
      if (hours === 0) expect(await isOpen(silent)).toBe(true)
      await api.shiftClock(11 * HOUR)
      if (hours === 11) expect(await isOpen(silent)).toBe(false)
    }
    await api.shiftClock(11 * HOUR)
    expect(await isOpen(busy)).toBe(false)
    await prune(api.database.db, HOUR)
    const { rows } = await api.database.db.query(`select * from postrider.dashboard_sessions`)
    expect(rows).toEqual([])
  })

  it('is written to once a minute at most', async () => {
    const cookie = cookieOf(await logIn())
    const seen = async () =>
      (await api.database.db.query<{ seen_at: Date }>(`select seen_at from postrider.dashboard_sessions`)).rows[0]!
        .seen_at
    const first = await seen()
    await api.shiftClock(50_000)
    await isOpen(cookie)
    expect(await seen()).toEqual(first)
    await api.shiftClock(11_000)
    await isOpen(cookie)
    expect((await seen()).getTime()).toBeGreaterThan(first.getTime() + 60_000)
  })

  it('gives way to a key, also to a wrong one', async () => {
    const cookie = await enter('ada', 'viewer')
    const key = await api.makeKey(['read', 'admin'])
    const asked = (authorization: string) => ask(SESSION, { cookie, headers: { authorization } })
    expect((await asked(`Bearer ${key}`)).body).toMatchObject({
      kind: 'key',
      name: 'a test',
      role: null,
      expires_at: null,
    })
    expect((await asked('Bearer wrong')).status).toBe(401)
    // A key needs no header of the dashboard's, with or without a cookie.
    const made = await api.call('POST /api/api-keys', {
      key,
      json: { name: 'x', scopes: ['send'] },
      headers: { cookie },
    })
    expect(made.status).toBe(201)
  })

  it('is found among other cookies, and nowhere else', async () => {
    const cookie = cookieOf(await logIn())!
    const token = cookie.split('=')[1]!
    expect(await isOpen(`theme=dark; ${cookie}; other=1`)).toBe(true)
    for (const wrong of [
      `xpostrider_session=${token}`,
      `POSTRIDER_SESSION=${token}`,
      `postrider_session="${token}"`,
      token,
    ])
      expect(await isOpen(wrong)).toBe(false)
    expect((await ask(`${SESSION}?postrider_session=${token}`)).status).toBe(401)
  })
})
