import { describe, expect, it } from 'vitest'
import { makeLink } from '../../src/operations/dashboard-links.js'
import { findSession, startSession } from '../../src/operations/dashboard-sessions.js'
import { disableUser } from '../../src/operations/dashboard-users.js'
import { DEFAULT_WORKSPACE } from '../../src/id.js'
import { DATABASE_KINDS } from '../support/test-database.js'
import { until } from '../support/until.js'
import { ADMIN_PASSWORD, askAs, cookieOf, openDashboard, PASSWORD } from './dashboard-fixture.js'

describe.each(DATABASE_KINDS)('people at the dashboard, on %s', (kind) => {
  const { api, ask, enter } = openDashboard(kind)
  const invite = async (json: unknown, cookie: string) => ask('POST /api/admin/users', { json, cookie })
  const operator = async () => (await api.logIn('operator', 'grace')).cookie

  it('are let in by an operator, with a link that is theirs', async () => {
    const cookie = await operator()
    const { status, body } = await invite({ name: 'Ada', role: 'viewer' }, cookie)
    expect(status).toBe(201)
    expect(body).toMatchObject({ name: 'ada', role: 'viewer', has_password: false, disabled_at: null })
    expect(body.setup_url).toBe(`http://127.0.0.1:3400/admin/setup#${body.setup_token}`)
    const entered = await ask('POST /api/admin/setup', { json: { token: body.setup_token, password: PASSWORD } })
    expect(entered.body).toMatchObject({ name: 'ada', role: 'viewer', scopes: ['read'] })
    const { body: list } = await ask('GET /api/admin/users', { cookie })
    expect(list.data).toMatchObject([
      { id: body.id, name: 'ada', has_password: true, seen_at: expect.stringMatching(/Z$/) as string },
      { name: 'grace', role: 'operator' },
    ])
    expect(JSON.stringify(list)).not.toMatch(/scrypt|setup_token/)
  })

  it('have names of their own', async () => {
    const cookie = await operator()
    await api.elsewhere()
    for (const [name, code] of [
      ['grace', 'user_conflict'],
      ['GRACE', 'user_conflict'],
      // Always there, whether or not it has a row; and one of another workspace, of which nothing else is said.
      ['admin', 'user_conflict'],
      ['elsewhere', 'user_conflict'],
      ['', 'user_invalid'],
      ['two words', 'user_invalid'],
      ['-x', 'user_invalid'],
      ['x'.repeat(65), 'user_invalid'],
      ['Аda', 'user_invalid'],
    ])
      expect([name, (await invite({ name, role: 'viewer' }, cookie)).body.code]).toEqual([name, code])
    expect((await invite({ name: 'ada@example.com', role: 'admin' }, cookie)).status).toBe(422)
    expect((await invite({ name: 'ada@example.com', role: 'operator' }, cookie)).status).toBe(201)
  })

  it('are out at once when they are disabled, in every process, and come back with a new link only', async () => {
    const cookie = await operator()
    const ada = await enter('ada', 'operator')
    const { body } = await ask('GET /api/admin/users', { cookie })
    const { id } = body.data[0] as { id: string }
    const other = await api.another()
    const session = () => askAs((request, env) => other.fetch(request, env), 'GET /api/admin/session', { cookie: ada })
    expect((await session()).status).toBe(200)
    const { token } = await makeLink(api.mail.context.db, DEFAULT_WORKSPACE, { name: 'ada', role: null })
    expect((await ask(`DELETE /api/admin/users/${id}`, { cookie })).body).toMatchObject({
      disabled_at: expect.stringMatching(/Z$/) as string,
      has_password: false,
    })
    expect((await session()).status).toBe(401)
    expect((await ask('POST /api/admin/setup', { json: { token, password: PASSWORD } })).status).toBe(410)
    const logIn = async () => (await ask('POST /api/admin/login', { json: { name: 'ada', password: PASSWORD } })).status
    expect(await logIn()).toBe(401)
    const again = await ask(`POST /api/admin/users/${id}/link`, { cookie })
    expect(again.body).toMatchObject({ name: 'ada', role: 'operator', disabled_at: null })
    expect(await logIn()).toBe(401)
    const json = { token: again.body.setup_token as string, password: `${PASSWORD} 2` }
    expect((await ask('POST /api/admin/setup', { json })).status).toBe(200)
    expect(await logIn()).toBe(401)
  })

  it('cannot lock themselves out', async () => {
    const cookie = await operator()
    const { body } = await ask('GET /api/admin/users', { cookie })
    const refused = await ask(`DELETE /api/admin/users/${body.data[0].id}`, { cookie })
    expect([refused.status, refused.body.code]).toEqual([409, 'user_conflict'])
    expect((await ask('GET /api/admin/session', { cookie })).status).toBe(200)
  })

  it('are what they are now, and not what they were when they logged in', async () => {
    const { cookie } = await api.logIn('operator', 'ada')
    await makeLink(api.mail.context.db, DEFAULT_WORKSPACE, { name: 'ada', role: 'viewer' })
    expect((await ask('GET /api/admin/session', { cookie })).body).toMatchObject({ role: 'viewer', scopes: ['read'] })
    expect((await ask('GET /api/admin/users', { cookie })).status).toBe(403)
  })

  it('are managed by a key of their workspace that may, and each workspace has its own', async () => {
    const other = await api.elsewhere()
    const { body: made } = await api.call('POST /api/admin/users', {
      key: other.key,
      json: { name: 'bob', role: 'operator' },
    })
    expect((await api.call('GET /api/admin/users')).body.data).toEqual([])
    const json = { token: made.setup_token as string, password: PASSWORD }
    const cookie = cookieOf(await ask('POST /api/admin/setup', { json }))!
    const { body } = await ask('GET /api/admin/session', { cookie })
    expect(body).toMatchObject({ name: 'bob', workspace: 'elsewhere' })
    const emails = await ask('GET /api/emails', { cookie })
    expect(emails.body.data.map(({ subject }: { subject: string }) => subject)).toEqual(['elsewhere'])
    expect((await ask('GET /api/admin/audit', { cookie })).body.data).not.toEqual([])
    expect((await api.call('GET /api/admin/audit?actor=bob')).body.data).toEqual([])
  })

  it('are not in when they were disabled, or chose another password, while they logged in', async () => {
    const { db } = api.mail.context
    const { user } = await makeLink(db, DEFAULT_WORKSPACE, { name: 'ada', role: 'viewer' })
    const setHash = (hash: string) =>
      db.query(`update postrider.dashboard_users set password_hash = $2 where id = $1`, [user.id, hash])
    await setHash('old')
    const shown = { userId: user.id, passwordHash: 'old' }
    // The change has the row; the login waits for it, and then finds another password. (The embedded database takes one
    // statement after the other: there the login comes after the change.)
    let late: Promise<string | null> | undefined
    await db.transaction(async (tx) => {
      await tx.query(`update postrider.dashboard_users set password_hash = 'new' where id = $1`, [user.id])
      if (db.embedded) return
      late = startSession(db, shown, null)
      await until('the login waits', async () => {
        const { rows } = await api.database.db.query(
          `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
        )
        return rows.length > 0
      })
    })
    expect(await (late ?? startSession(db, shown, null))).toBeNull()
    await setHash('old')
    expect(await startSession(db, shown, null)).not.toBeNull()
    await disableUser(db, DEFAULT_WORKSPACE, user.id)
    expect(await startSession(db, shown, null)).toBeNull()
  })
})

describe.each(DATABASE_KINDS)('admin of the settings, on %s', (kind) => {
  const { api, ask } = openDashboard(kind, { adminPassword: ADMIN_PASSWORD })

  it('can be disabled like everybody, and comes back with a link', async () => {
    const { db } = api.mail.context
    const cookie = cookieOf(await ask('POST /api/admin/login', { json: { password: ADMIN_PASSWORD } }))!
    const { user } = await makeLink(db, DEFAULT_WORKSPACE, { name: 'admin', role: null })
    const token = cookie.split('=')[1]!
    expect(await findSession(db, token, ADMIN_PASSWORD)).toMatchObject({ name: 'admin' })
    await disableUser(db, DEFAULT_WORKSPACE, user.id)
    expect(await findSession(db, token, ADMIN_PASSWORD)).toBeNull()
    const logIn = async () => (await ask('POST /api/admin/login', { json: { password: ADMIN_PASSWORD } })).status
    expect(await logIn()).toBe(401)
    await makeLink(db, DEFAULT_WORKSPACE, { name: 'admin', role: null })
    expect(await logIn()).toBe(200)
  })

  it('is an operator of the default workspace and nothing else', async () => {
    const { db } = api.mail.context
    await expect(makeLink(db, DEFAULT_WORKSPACE, { name: 'ADMIN', role: 'viewer' })).rejects.toMatchObject({
      code: 'user_conflict',
    })
    await api.elsewhere()
    const { rows } = await db.query<{ id: string }>(`select id from postrider.workspaces where name = 'elsewhere'`)
    await expect(makeLink(db, rows[0]!.id, { name: 'admin', role: null })).rejects.toMatchObject({
      code: 'user_conflict',
    })
  })
})
