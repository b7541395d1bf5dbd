import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type BuiltPackage, buildPackage } from '../support/build-package.js'
import { type ScriptedSmtp, startScriptedSmtp } from '../support/scripted-smtp.js'
import { fileDatabase } from '../support/services/file-database.js'
import { until } from '../support/until.js'
import { askStatus } from './ask-status.js'
import { keyOf, urlOf } from './printed-curl.js'
import { type Cli, openCli } from './run-cli.js'

/** Things that must never be in a log, each easy to find if it is. */
const CANARY = {
  body: 'canary-body-4711',
  html: 'canary-html-4711',
  subject: 'canary-subject-4711',
  attachment: 'canary-attachment-4711',
  header: 'canary-header-4711',
  password: 'canary-password-4711',
  'the password as AUTH writes it': Buffer.from('\0canary-user\0canary-password-4711').toString('base64'),
  secret: 'canary-secret-4711-long-enough',
  'somebody’s address': 'canary.somebody@example.org',
  'an unknown address': 'canary.unknown@example.org',
  'a waiting address': 'canary.waiting@example.org',
  'a lost address': 'canary.lost@example.org',
  'a refused content': 'canary.refused@example.org',
  'an address that is none': 'canary-nobody-4711',
  'a wrong key': 'pr_canary-wrong-key-4711',
}

vi.setConfig({ testTimeout: 120_000 })

let built: BuiltPackage
let cli: Cli
let mailServer: ScriptedSmtp

beforeAll(async () => {
  built = await buildPackage()
  cli = openCli(built)
  mailServer = await startScriptedSmtp({ extensions: ['AUTH PLAIN LOGIN', 'SMTPUTF8'] })
})
afterAll(async () => {
  await cli.close()
  await mailServer.close()
  built.remove()
})

test('with everything logged, no process says a body, a key, a password or a whole address', async () => {
  let [letIn, hangUp] = [true, false]
  // Mail servers like to repeat whom and what they refuse.
  mailServer.script = (point, line) => {
    const address = /<([^>]*)>/.exec(line)?.[1]
    if (point === 'auth' && !letIn) return { do: 'reply', text: `535 5.7.8 ${CANARY.password} is wrong` }
    if (point === 'rcpt' && address === CANARY['an unknown address'])
      return { do: 'reply', text: `550 5.1.1 <${address}>: no such user` }
    if (point === 'rcpt' && address === CANARY['a waiting address'])
      return { do: 'reply', text: `450 4.2.1 <${address}>: later` }
    if (point === 'rcpt' && address === CANARY['a refused content'])
      return { do: 'reply', text: `554 5.6.0 ${address} does not want "${CANARY.subject}"` }
    if (point === 'body' && hangUp) return { do: 'drop' }
    return undefined
  }
  const settings = {
    DATABASE_URL: await fileDatabase(),
    POSTRIDER_SECRET: CANARY.secret,
    SMTP_URL: `smtp://canary-user:${CANARY.password}@127.0.0.1:${mailServer.port}`,
    MAIL_FROM: 'Shop <shop@example.com>',
    LOG_LEVEL: 'debug',
    PORT: '0',
  }
  const started = cli.start(['start'], settings)
  await until('it is ready', () => started.stdout().includes('\nReady.'))
  const key = keyOf(started.stdout())
  const serving = cli.start(['serve'], settings)
  const working = cli.start(['work'], settings)
  const served = await until('it serves', () => /"url":"(http:[^"]+)\/api"/.exec(serving.stderr())?.[1])
  await until('it works', () => working.stderr().includes('"working"'))

  const urls = [urlOf(started.stdout()), served]
  const post = async (to: string, more: object = {}, authorization = `Bearer ${key}`) => {
    const email = {
      to,
      subject: CANARY.subject,
      text: CANARY.body,
      html: `<p>${CANARY.html}</p>`,
      headers: { 'X-Canary': CANARY.header },
      attachments: [{ filename: `${CANARY.attachment}.txt`, content: 'Y2FuYXJ5' }],
      ...more,
    }
    const headers = { Authorization: authorization, 'Content-Type': 'application/json' }
    const answers = await Promise.all(
      urls.map((url) => fetch(`${url}/api/emails`, { method: 'POST', headers, body: JSON.stringify(email) })),
    )
    return Promise.all(answers.map(async (each) => ((await each.json()) as { id: string }).id))
  }
  const becomes = (status: string, ids: readonly string[]) =>
    until(`they are ${status}`, async () => {
      const found = await Promise.all(ids.map((id) => cli.run(['emails', 'show', id, '--json'], settings)))
      return found.every(({ stdout }) => (JSON.parse(stdout) as { status: string }).status === status)
    })

  await becomes('sent', await post(CANARY['somebody’s address']))
  await becomes('sent', await post(CANARY['somebody’s address'], { delivery: 'inline' }))
  await becomes('failed', await post(CANARY['a refused content']))
  await becomes('retry_scheduled', await post(CANARY['a waiting address']))
  hangUp = true
  await becomes('uncertain', await post(CANARY['a lost address']))
  hangUp = false
  const unknown = await post(CANARY['an unknown address'], { delivery: 'inline' })
  await until('the address is refused or suppressed', async () => {
    const found = await Promise.all(unknown.map((id) => cli.run(['emails', 'show', id, '--json'], settings)))
    return found.every(({ stdout }) =>
      ['failed', 'suppressed'].includes((JSON.parse(stdout) as { status: string }).status),
    )
  })
  await post(CANARY['an address that is none'])
  await post('x@example.org', { headers: { Subject: CANARY.header }, text: undefined, html: 7 })
  await post('x@example.org', {}, `Bearer ${CANARY['a wrong key']}`)
  for (const url of urls)
    await askStatus(`${url}/api/emails?to=${CANARY['somebody’s address']}&q=${CANARY.subject}`, {
      headers: { Authorization: `Bearer ${key}` },
    })
  letIn = false
  mailServer.dropAll()
  await post(CANARY['somebody’s address'])
  await until('the sender is paused', () =>
    (started.stderr() + working.stderr() + serving.stderr()).includes('sender paused'),
  )

  const processes = { started, serving, working }
  for (const each of Object.values(processes)) each.signal('SIGTERM')
  for (const each of Object.values(processes)) expect(await each.exited).toBe(0)
  for (const [name, each] of Object.entries(processes)) {
    expect(each.stderr().length, `${name} logs`).toBeGreaterThan(200)
    for (const [what, canary] of Object.entries({ ...CANARY, key }))
      expect(linesWith(each.stderr(), canary), `${what} in the log of ${name}`).toEqual([])
    // The greeting is there to show the key, and nothing else of all this.
    for (const [what, canary] of Object.entries(CANARY))
      expect(linesWith(each.stdout(), canary), `${what} on the standard output of ${name}`).toEqual([])
  }
})

const linesWith = (text: string, part: string) => text.split('\n').filter((line) => line.includes(part))
