import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type BuiltPackage, buildPackage } from '../support/build-package.js'
import { findFreePort } from '../support/services/free-port.js'
import { type Cli, openHostedCli } from './run-cli.js'

let built: BuiltPackage
let cli: Cli

beforeAll(async () => {
  built = await buildPackage()
  cli = openHostedCli(built)
})
afterAll(async () => {
  await cli.close()
  built.remove()
})

describe('what runs in one process with others here', () => {
  const UNREACHABLE = { DATABASE_URL: 'postgres://127.0.0.1:1/mail', POSTRIDER_SECRET: 'a secret long enough' }

  test.each([
    [0, ['--version'], {}],
    [0, ['config', '--json'], { LEASE_SECONDS: '61' }],
    [1, ['doctor', '--json'], UNREACHABLE],
    [2, ['emails', 'list', '--limit', '0'], {}],
    [3, ['keys', 'list'], {}],
    [5, ['tick'], UNREACHABLE],
  ])('exits with %d and says the same in a process of its own: %j', async (code, args, env) => {
    const alone = cli.start(args, env)
    expect(await alone.exited).toBe(code)
    expect(await cli.run(args, env)).toEqual({ code, stdout: alone.stdout(), stderr: alone.stderr() })
  })

  test('is found out when it would not end by itself', async () => {
    const endless = join(cli.directory, 'endless.mjs')
    writeFileSync(endless, 'setInterval(() => undefined, 1_000)')
    const hosted = openHostedCli({ ...built, cli: endless }, 200)
    await expect(hosted.run(['start']).finally(() => hosted.close())).rejects.toThrow('would not end: Timeout')
  })
})

describe('asked about itself, it answers on standard output and exits with 0', () => {
  test('--version', async () => {
    const { version } = JSON.parse(readFileSync(join(built.directory, 'package.json'), 'utf8')) as { version: string }
    expect(await cli.run(['--version'])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' })
  })

  test.each([[['--help']], [['help']], [['start', '--help']], [['help', 'tick']]])('%j', async (args) => {
    const { code, stdout, stderr } = await cli.run(args)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(/^Usage: postrider/)
  })

  test('--help names every command of its own', async () => {
    const { stdout } = await cli.run(['--help'])
    const commands = ['start', 'serve', 'work', 'tick', 'migrate', 'send', 'emails', 'trace', 'keys', 'sink', 'doctor']
    for (const command of [...commands, 'demo', 'config']) expect(stdout).toMatch(new RegExp(`^  ${command}\\b`, 'm'))
  })
})

describe('a mistake exits with 2, says one thing on standard error and nothing on standard output', () => {
  test.each([
    ['a mistyped option', ['config', '--lease-second', '5'], {}, '--lease-seconds'],
    ['a mistyped command', ['migrat'], {}, 'migrate'],
    ['a mistyped command before an option', ['docter', '--json'], {}, 'doctor'],
    ['a setting that is no number', ['config', '--lease-seconds', 'soon'], {}, 'LEASE_SECONDS is "soon"'],
    ['a setting out of range', ['config'], { WORKER_CONCURRENCY: '0' }, 'from 1 to 10000'],
    ['a wait that is no duration', ['config'], { RETRY_OUTREACH: '1m,later' }, 'RETRY_OUTREACH is "later"'],
    ['a mistyped value', ['config'], { LOG_LEVEL: 'eror' }, 'Did you mean "error"?'],
    ['a mistyped setting', ['config'], { POSTRIDER_DATE: 'x' }, 'Did you mean POSTRIDER_DATA?'],
    ['a URL that is none', ['work'], { DATABASE_URL: 'localhost:5432' }, 'DATABASE_URL must be a URL like'],
    ['a secret’s file that is not there', ['config'], { DATABASE_URL_FILE: '/no/such/file' }, 'DATABASE_URL_FILE is'],
    ['a speed that is none', ['demo', '--fast', '0'], {}, 'from 1 to 1440'],
    ['a port that is none', ['demo', '--port', 'any'], {}, 'from 0 to 65535'],
    ['a duration that is none', ['tick', '--for', 'ever'], {}, '--for is "ever"'],
    ['a mistyped command of a noun', ['keys', 'creat'], {}, 'Did you mean create?'],
    ['a mistyped verb', ['emails', 'canel', 'em_1'], {}, 'Did you mean cancel?'],
    ['a mistyped option of a verb', ['send', '--subjct', 'x'], {}, 'Did you mean --subject?'],
    ['an argument too many', ['start', 'now'], {}, 'too many arguments'],
    ['a mistyped status', ['emails', 'list', '--status', 'faild'], {}, 'did you mean "failed"?'],
    ['a mistyped scope', ['keys', 'create', '--scope', 'send,reed'], {}, 'did you mean "read"?'],
    ['an unknown scope', ['keys', 'create', '--scope', 'everything'], {}, 'one of send, read, manage, admin'],
    ['a mistyped outcome', ['emails', 'resolve', 'em_1', '--as', 'snt'], {}, 'did you mean "sent"?'],
    ['no outcome', ['emails', 'resolve', 'em_1'], {}, '--as'],
    ['a limit out of range', ['emails', 'list', '--limit', '0'], {}, 'from 1 to 1000'],
    ['nobody to retry', ['emails', 'retry'], {}, '--all that match'],
    ['one and all', ['emails', 'retry', 'em_1', '--all'], {}, 'not both'],
    ['a filter with one', ['emails', 'dismiss', 'em_1', '--q', 'x'], {}, 'go with --all'],
    ['all of what did not fail', ['emails', 'retry', '--all', '--status', 'sent'], {}, 'Only failed emails'],
    ['a file that is not there', ['send', '--text-file', '/no/such'], {}, '  --text: ENOENT'],
    ['a mail server that is none', ['start'], { SMTP_URL: 'http://mail' }, 'SMTP_URL cannot be used'],
  ])('%s', async (_, args, env, said) => {
    const { code, stdout, stderr } = await cli.run(args, env)
    expect(stderr).toContain(said)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expectNoStack(stderr)
  })
})

describe('a database that cannot be reached', () => {
  const secret = 'a secret long enough'

  test.each(['start', 'serve', 'work', 'tick', 'migrate', 'keys list', 'emails list'])(
    'makes %s exit with 5 after one sentence',
    async (command) => {
      const url = `postgres://somebody:hidden@127.0.0.1:${await findFreePort()}/mail`
      const { code, stdout, stderr } = await cli.run(command.split(' '), {
        DATABASE_URL: url,
        POSTRIDER_SECRET: secret,
      })
      expect({ code, stdout }).toEqual({ code: 5, stdout: '' })
      expect(stderr.trim().split('\n')).toHaveLength(1)
      expect(stderr).toMatch(
        /^postrider: PostgreSQL at 127\.0\.0\.1:\d+ cannot be used: .*ECONNREFUSED.*Check DATABASE_URL/,
      )
      expect(stderr).not.toContain('hidden')
      expectNoStack(stderr)
    },
  )

  test('is a finding of doctor, which exits with 1', async () => {
    const url = `postgres://127.0.0.1:${await findFreePort()}/mail`
    const { code, stdout } = await cli.run(['doctor', '--json'], { DATABASE_URL: url })
    expect(code).toBe(1)
    expect(JSON.parse(stdout)).toMatchObject([
      { subject: 'database', verdict: 'problem' },
      { subject: 'broker', verdict: 'ok' },
      { subject: 'secret', verdict: 'problem', text: expect.stringContaining('POSTRIDER_SECRET is needed') as string },
      { subject: 'dns', verdict: 'ok' },
    ])
  })
})

test.each([['start'], ['serve'], ['work'], ['tick']])(
  '%s with DATABASE_URL and no POSTRIDER_SECRET is refused before anything is opened',
  async (command) => {
    const { code, stdout, stderr } = await cli.run([command], { DATABASE_URL: 'postgres://127.0.0.1:1/mail' })
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(/^postrider: POSTRIDER_SECRET is needed with DATABASE_URL: .*openssl rand.*\n$/)
  },
)

test.each(['emails list', 'keys list', `trace em_${'0'.repeat(32)}`])(
  '%s where there is no database makes none',
  async (command) => {
    const POSTRIDER_DATA = join(cli.directory, 'nothing-here')
    const { code, stdout, stderr } = await cli.run(command.split(' '), { POSTRIDER_DATA })
    expect({ code, stdout }).toEqual({ code: 3, stdout: '' })
    expect(stderr).toMatch(/^postrider: There is no database in .*nothing-here\. .*\n$/)
    expect(existsSync(POSTRIDER_DATA)).toBe(false)
  },
)

describe('config', () => {
  const DEFAULTS = {
    DATABASE_URL: '',
    POSTRIDER_DATA: './.postrider',
    WORKER_CONCURRENCY: '20',
    LEASE_SECONDS: '60',
    SWEEP_SECONDS: '5',
    RETENTION_DAYS: '90',
    RETRY_OUTREACH: '1m,5m,15m',
    RETRY_TRANSACTIONAL: '30s,1m,2m,4m,8m',
    RETRY_STANDARD: '1m,5m,15m,1h,3h,6h,12h,1d',
    MAX_ATTEMPTS_OUTREACH: '4',
    MAX_ATTEMPTS_TRANSACTIONAL: '5',
    MAX_ATTEMPTS_STANDARD: '8',
    LOG_LEVEL: 'info',
  }
  const read = async (args: string[], env: Record<string, string> = {}) => {
    const { code, stdout, stderr } = await cli.run(['config', '--json', ...args], env)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    return JSON.parse(stdout) as Record<string, string>
  }

  test('prints the documented settings and defaults as JSON', async () => {
    // Settings may be added; none of these may be renamed or change its default unnoticed.
    expect(await read([])).toMatchObject(DEFAULTS)
  })

  test('redacts secrets wherever they come from', async () => {
    const url = 'postgres://app:s3cret@db.example:5432/mail'
    writeFileSync(join(cli.directory, 'url'), `${url}\n`)
    const redacted = 'postgres://app:***@db.example:5432/mail'
    expect((await read([], { DATABASE_URL: url })).DATABASE_URL).toBe(redacted)
    expect((await read(['--database-url', url])).DATABASE_URL).toBe(redacted)
    expect((await read([], { DATABASE_URL_FILE: 'url' })).DATABASE_URL).toBe(redacted)
    expect((await cli.run(['config'], { DATABASE_URL: url })).stdout).not.toContain('s3cret')
  })

  test.each([
    'postgres://app@db.example/mail?password=s3cret',
    'postgres://app:s3cret@with-at@db.example/mail',
    'postgres://app:s3cret%2Fslash@db.example/mail',
  ])('redacts the password of %s', async (url) => {
    expect((await read([], { DATABASE_URL: url })).DATABASE_URL).not.toContain('s3cret')
  })

  test('takes a flag before the environment, and that before .env', async () => {
    writeFileSync(join(cli.directory, '.env'), 'SWEEP_SECONDS=7\nLEASE_SECONDS=77\nWORKER_CONCURRENCY=777\n')
    const env = { LEASE_SECONDS: '78', WORKER_CONCURRENCY: '778' }
    expect(await read(['--worker-concurrency', '779'], env)).toMatchObject({
      SWEEP_SECONDS: '7',
      LEASE_SECONDS: '78',
      WORKER_CONCURRENCY: '779',
    })
    writeFileSync(join(cli.directory, '.env'), '')
  })
})

function expectNoStack(stderr: string): void {
  expect(stderr).not.toMatch(/^\s+at /m)
  expect(stderr).not.toContain('node:')
}
