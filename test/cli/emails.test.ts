import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type BuiltPackage, buildPackage } from '../support/build-package.js'
import { type ScriptedSmtp, startScriptedSmtp } from '../support/scripted-smtp.js'
import { fileDatabase } from '../support/services/file-database.js'
import { type Cli, openHostedCli } from './run-cli.js'

/** Every test here is a handful of processes, each a second on a busy machine. */
vi.setConfig({ testTimeout: 120_000 })

let built: BuiltPackage
let cli: Cli
let mailServer: ScriptedSmtp
let env: Record<string, string>

beforeAll(async () => {
  built = await buildPackage()
  cli = openHostedCli(built)
  mailServer = await startScriptedSmtp()
  env = {
    DATABASE_URL: await fileDatabase(),
    POSTRIDER_SECRET: 'the same for every process',
    SMTP_URL: `smtp://127.0.0.1:${mailServer.port}`,
    MAIL_FROM: 'Shop <shop@example.com>',
  }
})
afterAll(async () => {
  await cli.close()
  await mailServer.close()
  built.remove()
})

interface Shown extends Record<string, unknown> {
  readonly id: string
  readonly status: string
}

/** With --json: data alone on standard output, and nothing on standard error. */
async function read(...args: string[]): Promise<Shown> {
  const { code, stdout, stderr } = await cli.run([...args, '--json'], env)
  expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: '' })
  expect(stdout.endsWith('\n')).toBe(true)
  return JSON.parse(stdout) as Shown
}

const send = (to: string, ...more: string[]) => read('send', '--to', to, '--subject', 'Hello', '--text', 'Hi', ...more)
const tick = () => cli.run(['tick'], { ...env, LOG_LEVEL: 'silent' })
/** An address of its own for each test, since they share the database. */
const somebody = () => `p${randomUUID().slice(0, 8)}@example.org`

/** What the mail server says to one address. */
function answer(address: string, reply: string | null, at: 'rcpt' | 'dot' = 'rcpt'): void {
  mailServer.script = (point, line) => {
    if (at === 'dot') return point === 'dot' && reply === null ? { do: 'drop' } : undefined
    return point === 'rcpt' && line.includes(address) && reply !== null ? { do: 'reply', text: reply } : undefined
  }
}

describe('send', () => {
  test('takes everything an email is made of, and it arrives', async () => {
    const [to, cc] = [somebody(), somebody()]
    const file = join(cli.directory, 'notes.txt')
    writeFileSync(file, 'attached notes')
    const people = ['--to', `Ada <${to}>`, '--cc', cc, '--reply-to', 'desk@example.com']
    const content = ['--subject', 'Everything', '--text', '-', '--html', '<p>in html</p>', '--attach', file]
    const sent = await cli.run(['send', ...people, ...content, '--header', 'X-Order: 12'], env, 'piped text')
    expect(sent).toMatchObject({ code: 0, stderr: '' })
    expect(sent.stdout).toMatch(/^em_[0-9a-f]{32} scheduled\n$/)
    await tick()
    const arrived = mailServer.taken.filter(({ raw }) => raw.includes('Subject: Everything'))
    expect(new Set(arrived.map(({ rcpt }) => /<(.*)>/.exec(rcpt)![1]))).toEqual(new Set([to, cc]))
    const raw = arrived[0]!.raw.toString()
    for (const part of ['piped text', '<p>in html</p>', 'X-Order: 12', 'notes.txt', 'Reply-To: desk@example.com'])
      expect(raw).toContain(part)
    const id = sent.stdout.split(' ')[0]!
    expect(await read('emails', 'show', id)).toMatchObject({ id, status: 'sent', cc: [cc] })
  })

  test('lists all that is wrong, a line each, and exits with 2', async () => {
    const wrong = ['--to', 'nobody', '--header', 'From: me', '--schedule', 'soon', '--inline']
    const { code, stdout, stderr } = await cli.run(['send', ...wrong], env)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr.split('\n').map((line) => line.split(':')[0])).toEqual([
      'postrider',
      '  --to #1',
      '  --subject',
      '  --text',
      '  --header From',
      '  --schedule',
      '',
    ])
  })

  test('with a key of its own, sends one email however often it runs', async () => {
    const key = ['--idempotency-key', randomUUID()]
    const to = somebody()
    const first = await send(to, ...key)
    const again = await cli.run(['send', '--to', to, '--subject', 'Hello', '--text', 'Hi', ...key, '--json'], env)
    expect(again.code).toBe(0)
    expect(JSON.parse(again.stdout)).toMatchObject({ id: first.id, replayed: true })
    const other = await cli.run(['send', '--to', to, '--subject', 'Other', '--text', 'Hi', ...key], env)
    expect(other).toMatchObject({ code: 4, stdout: '' })
  })

  test('inline says what came of it, and exits with 1 when it failed for good', async () => {
    expect(await send(somebody(), '--inline')).toMatchObject({ status: 'sent' })
    const to = somebody()
    answer(to, '554 5.6.0 not that')
    const refused = await cli.run(['send', '--to', to, '--subject', 'x', '--text', 'x', '--inline', '--json'], {
      ...env,
      LOG_LEVEL: 'silent',
    })
    expect(refused).toMatchObject({ code: 1, stderr: '' })
    expect(JSON.parse(refused.stdout)).toMatchObject({ status: 'failed' })
  })
})

test('a process that has no mail server does not call mail sent that the others send by one', async () => {
  const { DATABASE_URL, POSTRIDER_SECRET } = env
  const waiting = await send(somebody())
  const inline = ['send', '--to', somebody(), '--subject', 'x', '--text', 'x', '--inline']
  for (const command of [['tick'], ['work'], inline]) {
    const { code, stdout, stderr } = await cli.run(command, {
      DATABASE_URL: DATABASE_URL!,
      POSTRIDER_SECRET: POSTRIDER_SECRET!,
    })
    expect({ command, code, stdout }).toEqual({ command, code: 2, stdout: '' })
    expect(stderr).toMatch(/^postrider: SMTP_URL is not set here, .*\n$/)
  }
  expect(await read('emails', 'show', waiting.id)).toMatchObject({ status: 'scheduled' })
})

describe('emails', () => {
  test('list filters and pages, fits 80 columns for people, and steers no terminal', async () => {
    const to = somebody()
    const long = 'A subject that goes on and on 🙂 and never seems to come to its end, whoever reads it'
    const older = await read('send', '--to', to, '--subject', long, '--text', 'x')
    const newer = await read('send', '--to', to, '--cc', somebody(), '--subject', '\u202Eturned', '--text', 'x')
    const page = await read('emails', 'list', '--to', to.toUpperCase(), '--limit', '1')
    expect(page).toMatchObject({ object: 'list', has_more: true, data: [{ id: newer.id, subject: '\u202Eturned' }] })
    const next = await read('emails', 'list', '--to', to, '--after', newer.id)
    expect(next).toMatchObject({ has_more: false, data: [{ id: older.id }] })
    expect(await read('emails', 'list', '--q', 'comes to its end')).toMatchObject({ data: [] })

    const { stdout } = await cli.run(['emails', 'list', '--to', to], env)
    const lines = stdout.trimEnd().split('\n')
    expect(lines[0]).toMatch(/^ID +STATUS +TO +SUBJECT$/)
    expect(lines[1]).toContain(newer.id)
    expect(lines[2]).toContain(`${older.id}  scheduled`)
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(80)
    // oxlint-disable-next-line no-control-regex
    expect(stdout).not.toMatch(/[\u001b\u202e]/)
  })

  test('a decision moves what its state allows; anything else is a conflict, and exits with 4', async () => {
    const later = await send(somebody(), '--schedule', '2099-01-01T00:00:00Z')
    expect(await read('emails', 'cancel', later.id)).toMatchObject({ status: 'canceled' })
    const again = await cli.run(['emails', 'cancel', later.id], env)
    expect(again).toMatchObject({ code: 4, stdout: '' })
    expect(again.stderr).toBe(
      `postrider: Email ${later.id} is canceled; cancelling needs scheduled or retry_scheduled.\n`,
    )

    const to = somebody()
    answer(to, '554 5.6.0 not that')
    const failed = await send(to)
    await tick()
    const shown = await cli.run(['emails', 'show', failed.id], env)
    expect(shown.stdout).toContain('It failed for good')
    answer(to, null)
    expect(await read('emails', 'retry', failed.id)).toMatchObject({ status: 'scheduled' })
    await tick()
    expect(await read('emails', 'show', failed.id)).toMatchObject({ status: 'sent' })
  })

  test('an uncertain one is resolved as what it was, or sent again under the same Message-ID', async () => {
    const to = somebody()
    answer(to, null, 'dot')
    const [first, second] = [await send(to), await send(to)]
    await tick()
    mailServer.script = () => undefined
    expect(await read('emails', 'list', '--status', 'uncertain', '--to', to)).toMatchObject({
      data: [{ id: second.id }, { id: first.id }],
    })
    expect(await read('emails', 'resolve', first.id, '--as', 'sent')).toMatchObject({ status: 'sent' })
    await read('emails', 'resolve', second.id, '--as', 'resend')
    await tick()
    expect(await read('emails', 'show', second.id)).toMatchObject({ status: 'sent' })
    const copies = mailServer.taken.filter(({ rcpt }) => rcpt.includes(to))
    const names = copies.map(({ raw }) => /^Message-ID: (.*)$/im.exec(raw.toString())![1])
    expect({ copies: copies.length, messages: new Set(names).size }).toEqual({ copies: 3, messages: 2 })
  })

  test('all failed ones that match are retried or dismissed, but never without --yes where nobody can be asked', async () => {
    const [one, other] = [somebody(), somebody()]
    mailServer.script = (point) => (point === 'rcpt' ? { do: 'reply', text: '554 5.6.0 not that' } : undefined)
    for (const to of [one, one, other]) await send(to)
    await tick()
    mailServer.script = () => undefined

    const asked = await cli.run(['emails', 'retry', '--all', '--status', 'failed', '--to', one], env)
    expect(asked).toMatchObject({ code: 2, stdout: '' })
    expect(asked.stderr).toContain('Retry 2 failed emails? Nobody can be asked here: add --yes')
    expect((await cli.run(['emails', 'retry', '--all', '--to', one, '--dry-run'], env)).stdout).toBe(
      '2 failed emails would be retried.\n',
    )
    expect(await read('emails', 'retry', '--all', '--to', one, '--dry-run')).toEqual({
      matched: 2,
      changed: 0,
      dry_run: true,
    })
    expect(await read('emails', 'retry', '--all', '--to', one, '--yes')).toMatchObject({ matched: 2, changed: 2 })
    await tick()
    expect(await read('emails', 'list', '--status', 'sent', '--to', one)).toMatchObject({ data: [{}, {}] })
    expect((await cli.run(['emails', 'dismiss', '--all', '--q', other, '--yes'], env)).stdout).toBe(
      '1 email dismissed.\n',
    )
    expect(await cli.run(['emails', 'retry', '--all', '--to', one], env)).toMatchObject({
      code: 0,
      stdout: 'No failed email matches.\n',
    })
  })

  test('trace tells the whole life of one', async () => {
    const to = somebody()
    answer(to, `450 4.2.1 ${to} is greylisted, \u001b[31mcome back`)
    const email = await send(to)
    await tick()
    const waiting = await cli.run(['trace', email.id], env)
    const said = waiting.stdout.replaceAll(/\s+/g, ' ')
    expect(said).toContain(`attempt 1 to ${to}: deferred (transient)`)
    expect(said).toContain(`reached rcpt at 127.0.0.1:${mailServer.port} in`)
    expect(said).toMatch(/now p\S+: retry_scheduled since .* It failed once: .*greylisted.* It goes out at /)
    expect(waiting.stdout).not.toContain('\u001b')
    for (const line of waiting.stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(80)

    await read('emails', 'cancel', email.id)
    const traced = await read('trace', email.id)
    expect(traced).toMatchObject({ id: email.id, status: 'canceled', now: [{ recipient: to, status: 'canceled' }] })
    expect((traced['timeline'] as { kind: string; what: string }[]).map(({ kind, what }) => [kind, what])).toEqual([
      ['accepted', 'accepted for 1 recipient'],
      ['attempt', `attempt 1 to ${to}: deferred (transient)`],
      ['event', 'canceled by the command line'],
    ])
  })

  test('what is not there is not found, and exits with 3', async () => {
    const nobody = `em_${randomUUID().replaceAll('-', '')}`
    for (const command of [
      `emails show ${nobody}`,
      'emails show em_1',
      `emails cancel ${nobody}`,
      `trace ${nobody}`,
      'keys revoke key_1',
      'keys list --workspace nowhere',
      `trace ${nobody} --workspace nowhere`,
      'send --to a@example.org --subject x --text x --workspace nowhere',
    ]) {
      const { code, stdout, stderr } = await cli.run(command.split(' '), env)
      expect({ command, code, stdout }).toEqual({ command, code: 3, stdout: '' })
      expect(stderr).toMatch(/^postrider: There is no .*\n$/)
    }
  })
})

test('a workspace is made with its first key, and is a world of its own that sends as the server does', async () => {
  // Made in a shell that does not know the server's mail server.
  const { SMTP_URL: _, ...shell } = env
  const flags = ['--workspace', 'other-shop', '--name', 'shop', '--scope', 'send,read', '--json']
  const made = JSON.parse((await cli.run(['keys', 'create', ...flags], shell)).stdout) as Shown
  expect(made).toMatchObject({ workspace: 'other-shop', name: 'shop', scopes: ['send', 'read'] })
  expect(String(made['key']).startsWith(String(made['prefix']))).toBe(true)
  const to = somebody()
  const theirs = await send(to, '--workspace', 'other-shop')
  await tick()
  expect(mailServer.taken.filter(({ rcpt }) => rcpt.includes(to))).toHaveLength(1)
  expect((await cli.run(['emails', 'show', theirs.id], env)).code).toBe(3)
  expect((await cli.run(['emails', 'show', theirs.id, '--workspace', 'other-shop'], env)).code).toBe(0)

  const listed = await cli.run(['keys', 'list', '--workspace', 'other-shop'], env)
  expect(listed.stdout).toContain(`${made.id}  ${String(made['prefix'])}  never`)
  for (const line of listed.stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(80)
  expect(listed.stdout).not.toContain(made['key'])
  expect((await cli.run(['keys', 'revoke', made.id], env)).code).toBe(3)
  const revoked = await read('keys', 'revoke', made.id, '--workspace', 'other-shop')
  expect(revoked['revoked_at']).not.toBeNull()
})
