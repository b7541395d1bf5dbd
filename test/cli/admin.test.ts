import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, expect, inject, test } from 'vitest'
import { type BuiltPackage, buildPackage } from '../support/build-package.js'
import { copyEmbeddedTemplate } from '../support/services/embedded-template.js'
import { fileDatabase } from '../support/services/file-database.js'
import { until } from '../support/until.js'
import { keyOf, urlOf } from './printed-curl.js'
import { type Cli, type CliProcess, openCli } from './run-cli.js'

let built: BuiltPackage
let cli: Cli
const closers: (() => void)[] = []
const START_MS = 120_000
/** Many processes, one after the other. */
const SLOW_MS = 240_000
const PASSWORD = 'correct horse battery staple'

beforeAll(async () => {
  built = await buildPackage()
})
afterAll(() => built.remove())
beforeEach(() => {
  cli = openCli(built)
})
afterEach(async () => {
  await cli.close()
  for (const close of closers.splice(0)) close()
})

const usedBefore = (): Record<string, string> => {
  const copy = copyEmbeddedTemplate(inject('embeddedTemplate'))
  closers.push(copy.remove)
  return { PORT: '0', POSTRIDER_DATA: copy.directory }
}

async function start(env: Record<string, string>): Promise<CliProcess> {
  const started = cli.start(['start'], env)
  await until('it says that it is ready', () => started.stdout().includes('\nReady.'), { withinMs: START_MS })
  return started
}

async function stop(started: CliProcess): Promise<void> {
  started.signal('SIGTERM')
  expect(await started.exited).toBe(0)
}

const tokenOf = (text: string): string | undefined => /http:\S+\/admin\/setup#([\w-]{43})\b/.exec(text)?.[1]

/** As a page of the dashboard would. */
const post = (base: string, path: string, body: unknown, cookie?: string) =>
  fetch(`${base}${path}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-Postrider-Dashboard': '1', ...(cookie && { Cookie: cookie }) },
    body: JSON.stringify(body),
  })

const setUp = (base: string, token: string, password = PASSWORD) => post(base, '/api/admin/setup', { token, password })

const cookieOf = (response: Response) => response.headers.get('set-cookie')!.split(';')[0]!

test(
  'start prints a link until somebody has a password; a new start voids the old one',
  async () => {
    const env = usedBefore()
    const first = await start(env)
    const old = tokenOf(first.stdout())
    expect(first.stdout()).toContain(`  dashboard  ${urlOf(first.stdout())}/admin\n`)
    await stop(first)

    const second = await start(env)
    const base = urlOf(second.stdout())
    expect((await setUp(base, old!)).status).toBe(410)
    const entered = await setUp(base, tokenOf(second.stdout())!)
    expect(entered.status).toBe(200)
    const session = await fetch(`${base}/api/admin/session`, { headers: { Cookie: cookieOf(entered) } })
    expect(await session.json()).toMatchObject({ name: 'admin', role: 'operator' })
    // The token came in a body and was printed for people: the log has neither it nor the password.
    expect(second.stderr()).not.toContain(tokenOf(second.stdout())!)
    expect(second.stderr()).not.toContain(PASSWORD)
    await stop(second)

    const third = await start(env)
    expect(third.stdout()).not.toContain('/admin/setup')
    expect(third.stdout()).toMatch(/^ {2}log in {5}with the password that was chosen; "postrider admin link"/m)
    expect((await post(urlOf(third.stdout()), '/api/admin/login', { password: PASSWORD })).status).toBe(200)
    await stop(third)
  },
  SLOW_MS,
)

test(
  'admin link, users and disable, through the process that runs',
  async () => {
    const env = usedBefore()
    const started = await start(env)
    const base = urlOf(started.stdout())
    const made = await cli.run(['admin', 'link', '--name', 'Ada', '--role', 'viewer'], { ...env, PUBLIC_URL: base })
    expect(made.code).toBe(0)
    expect(made.stdout).toMatch(new RegExp(`^${base}/admin/setup#[\\w-]{43}\n$`))
    expect(made.stderr).toContain('With this link ada (viewer) chooses a password')
    const entered = await setUp(base, tokenOf(made.stdout)!)
    expect(await entered.json()).toMatchObject({ name: 'ada', role: 'viewer' })

    const again = await cli.run(['admin', 'link', '--name', 'ada', '--json'], env)
    expect(JSON.parse(again.stdout)).toMatchObject({ name: 'ada', role: 'viewer', has_password: true })
    const { stdout } = await cli.run(['admin', 'users'], env)
    expect(stdout).toMatch(/^NAME +ROLE +STATE/)
    expect(stdout).toMatch(/^ada +viewer +can log in/m)
    expect(stdout).toMatch(/^admin +operator +has not used the link/m)

    const cookie = cookieOf(entered)
    const statusOf = async () => (await fetch(`${base}/api/admin/session`, { headers: { Cookie: cookie } })).status
    expect(await statusOf()).toBe(200)
    expect(await cli.run(['admin', 'disable', 'ADA'], env)).toMatchObject({
      code: 0,
      stdout: 'Disabled ada: every session is over.\n',
    })
    expect(await statusOf()).toBe(401)
    const list = JSON.parse((await cli.run(['admin', 'users', '--json'], env)).stdout) as { data: object[] }
    expect(list.data[0]).toMatchObject({ name: 'ada', has_password: false, disabled_at: expect.any(String) as string })

    await stop(started)
  },
  SLOW_MS,
)

test.each([
  ['somebody who is not there', ['disable', 'bob'], {}, 3, 'There is no user "bob"'],
  ['a role that is none', ['link', '--role', 'viewr'], {}, 2, 'did you mean "viewer"?'],
  ['admin as a viewer', ['link', '--role', 'viewer'], {}, 4, 'admin is an operator'],
  ['a name that is none', ['link', '--name', 'two words'], {}, 2, 'The name must have'],
  ['a link of no use', ['link'], { POSTRIDER_ADMIN_PASSWORD: PASSWORD }, 2, 'as long as that is set'],
  ['another workspace', ['users', '--workspace', 'other'], {}, 3, 'There is no workspace "other"'],
])('admin refuses %s', async (_, args, extra, code, said) => {
  const env = { DATABASE_URL: await fileDatabase(), ...extra }
  const refused = await cli.run(['admin', ...args], env)
  expect({ code: refused.code, stdout: refused.stdout }).toEqual({ code, stdout: '' })
  expect(refused.stderr).toContain(said)
})

test(
  'serve prints a link on its own, and with POSTRIDER_ADMIN_PASSWORD neither it nor the password',
  async () => {
    const env = { DATABASE_URL: await fileDatabase(), POSTRIDER_SECRET: 'the same for every process', PORT: '0' }
    const serve = async (extra: Record<string, string> = {}) => {
      const serving = cli.start(['serve'], { ...env, LOG_LEVEL: 'info', ...extra })
      const base = await until('it serves', () => /"url":"(http:[^"]+)\/api"/.exec(serving.stderr())?.[1])
      return { serving, base }
    }
    const first = await serve()
    expect(first.serving.stdout()).toMatch(/^Nobody can log in to the dashboard yet: choose a password at http:\S+\n?/)
    expect(first.serving.stderr()).not.toContain('/admin/setup')
    await stop(first.serving)

    const second = await serve({ POSTRIDER_ADMIN_PASSWORD: PASSWORD, PUBLIC_URL: 'https://mail.example.com' })
    expect(second.serving.stdout()).toBe('')
    const entered = await post(second.base, '/api/admin/login', { password: PASSWORD })
    expect(entered.headers.get('set-cookie')).toMatch(/; Secure$/)
    await stop(second.serving)
    expect(second.serving.stderr()).not.toContain(PASSWORD)

    const third = await serve({ PUBLIC_URL: 'https://mail.example.com' })
    expect(third.serving.stdout()).toContain(' https://mail.example.com/admin/setup#')
    await stop(third.serving)
  },
  SLOW_MS,
)

test(
  'killed between what somebody meant to do and its end, the log says that the end is not known',
  async () => {
    // A mail server that takes the connection and never says a word.
    const sockets = new Set<Socket>()
    const tarpit = createServer((socket) => void sockets.add(socket.on('error', () => undefined)))
    await once(tarpit.listen(0, '127.0.0.1'), 'listening')
    closers.push(() => {
      for (const socket of sockets) socket.destroy()
      tarpit.close()
    })
    const SMTP_URL = `smtp://127.0.0.1:${(tarpit.address() as AddressInfo).port}`
    const env = { ...usedBefore(), SMTP_URL, POSTRIDER_ADMIN_PASSWORD: PASSWORD }
    const victim = await start(env)
    const base = urlOf(victim.stdout())
    const entered = await post(base, '/api/admin/login', { password: PASSWORD })
    const headers = { Authorization: `Bearer ${keyOf(victim.stdout())}` }
    const senders = (await (await fetch(`${base}/api/senders`, { headers })).json()) as { data: { id: string }[] }
    const { id } = senders.data[0]!
    const lost = post(base, `/api/senders/${id}/test`, {}, cookieOf(entered)).catch((error: unknown) => error)
    await until('it talks to the mail server', () => sockets.size > 0)
    victim.signal('SIGKILL')
    expect(await lost).toBeInstanceOf(Error)

    const survivor = await start(env)
    const read = await fetch(`${urlOf(survivor.stdout())}/api/admin/audit?actor=admin&target=${id}`, { headers })
    const { data } = (await read.json()) as { data: object[] }
    expect(data).toMatchObject([
      { actor: 'admin', action: 'POST /api/senders/{id}/test', outcome: 'not_known', status: null },
    ])
    await stop(survivor)
  },
  SLOW_MS,
)
