import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type BuiltPackage, buildPackage } from '../support/build-package.js'
import { until } from '../support/until.js'
import { type Cli, type CliProcess, openCli } from './run-cli.js'
import { closeAfterEach, deliver, greetedClient, makeDirectory, openClient, readLog, start } from './sink-fixture.js'

closeAfterEach()

describe('the log', () => {
  test('has the message before its client is answered', async () => {
    const logFile = join(makeDirectory(), 'log')
    const seen: unknown[] = []
    const sink = await start({
      logFile,
      onTaken: (taken) => seen.push({ lines: readLog(logFile).length, taken, answered: client.received }),
    })
    const client = await greetedClient(sink)
    for (let n = 1; n <= 3; n++) {
      expect(await deliver(client)).toBe('250 250 354 250')
      expect(readLog(logFile)).toHaveLength(n)
      expect(seen[n - 1]).toEqual({ lines: n, taken: readLog(logFile)[n - 1], answered: '' })
    }
  })

  test('is added to, and says what a test needs to judge by', async () => {
    const logFile = join(makeDirectory(), 'log')
    for (const run of [1, 2]) {
      const client = await greetedClient(await start({ logFile, remember: false }))
      await deliver(client, `subject: run\r\n ${run}\r\nMESSAGE-ID:\r\n <${run}@x>\r\n\r\nMessage-ID: <no@x>\r\n`)
      expect(await deliver(client, '\r\nSubject: only text\r\n\r\n')).toBe('250 250 354 250')
    }
    const at = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as string
    const same = { at, connection: 1, from: 'a@example.com', to: ['b@example.com'], replied: 'accepted' }
    expect(readLog(logFile)).toEqual(
      [1, 2].flatMap((run) => [
        { ...same, n: 1, message_id: `<${run}@x>`, subject: `run ${run}`, size: 61 },
        { ...same, n: 2, message_id: null, subject: null, size: 24 },
      ]),
    )
  })

  test('that cannot be written means that nothing is taken', async () => {
    const troubles: unknown[] = []
    const sink = await start({ logFile: '/dev/full', onTrouble: (error) => troubles.push(error) })
    const client = await greetedClient(sink)
    expect(await deliver(client)).toBe('250 250 354 452')
    expect([sink.taken(), sink.counts().messages]).toEqual([[], 0])
    expect(troubles).toMatchObject([{ code: 'ENOSPC' }])
  })
})

describe('postrider sink', () => {
  let built: BuiltPackage
  let cli: Cli
  beforeAll(async () => {
    built = await buildPackage()
    cli = openCli(built)
  })
  afterAll(async () => {
    await cli.close()
    built.remove()
  })

  const untilListening = (started: CliProcess) =>
    until('it listens', () => {
      const port = /(?:listening on 127\.0\.0\.1:|"listening","port":)(\d+)/.exec(started.stdout())?.[1]
      return port ? { port: Number(port) } : null
    })

  test.each(['SIGTERM', 'SIGINT'] as const)('says where it listens, what it took, and stops on %s', async (signal) => {
    const started = cli.start(['sink', '--port', '0', '--chaos', 'rcpt:450:0', '--chaos', 'dot:550:0', '--seed', '5'])
    const client = await greetedClient(await untilListening(started))
    await deliver(client, 'Subject: a\u0007b\r\n\r\n')
    await deliver(client, 'x\r\n')
    started.signal(signal)
    expect(await started.exited).toBe(0)
    expect(started.stdout().split('\n').slice(1)).toEqual([
      'chaos with seed 5',
      '1  a@example.com to b@example.com  16 bytes  a?b',
      '2  a@example.com to b@example.com  3 bytes',
      '2 messages from 1 connections, 0 faults',
      '',
    ])
    expect(started.stderr()).toBe('')
  })

  test('--json prints events, and --auth and --tls are offered', async () => {
    const args = ['--tls', '--auth', 'me:sec:ret', '--chaos', 'ehlo:451:0,dot:taken-drop', '--json', '--seed', '3']
    const started = cli.start(['sink', '--port', '0', ...args])
    const client = await openClient(await untilListening(started))
    await client.reply()
    expect(await client.ask('EHLO me')).toContain('250-STARTTLS\r\n250-AUTH PLAIN LOGIN XOAUTH2\r\n')
    expect(await client.ask(`AUTH PLAIN ${Buffer.from('\0me\0sec:ret').toString('base64')}`)).toMatch(/^235/)
    expect(await deliver(client)).toBe('250 250 354 fin')
    started.signal('SIGTERM')
    expect(await started.exited).toBe(0)
    const lines = started.stdout().trim().split('\n')
    expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
      { event: 'listening', port: expect.any(Number) as number, host: '127.0.0.1', seed: 3 },
      { event: 'fault', connection: 1, phase: 'dot', fault: 'taken-drop' },
      { event: 'taken', n: 1, message_id: '<1@x>', replied: 'dropped_after_dot' },
      { event: 'stopped', messages: 1, connections: 1, open: 0, faults: 1 },
    ])
  })

  test('every 250 a client has seen is in the log, also when the sink is killed', async () => {
    const started = cli.start(['sink', '--port', '0', '--log', 'log', '--hash', '--keep', 'kept', '--quiet'])
    const client = await greetedClient(await untilListening(started))
    const logFile = join(cli.directory, 'log')
    for (let n = 1; n <= 50; n++) {
      expect(await deliver(client, `Message-ID: <${n}@x>\r\n\r\n`)).toBe('250 250 354 250')
      expect(readLog(logFile)).toHaveLength(n)
    }
    started.signal('SIGKILL')
    expect(await started.exited).toBe('SIGKILL')
    expect(readLog(logFile).map(({ message_id }) => message_id)).toEqual(
      Array.from({ length: 50 }, (_, index) => `<${index + 1}@x>`),
    )
    expect(readdirSync(join(cli.directory, 'kept'))).toHaveLength(50)
    expect(started.stdout().trim().split('\n')).toHaveLength(1)
  })

  test('--duration stops it by itself', async () => {
    const { code, stdout } = await cli.run(['sink', '--port', '0', '--duration', '100ms'])
    expect(code).toBe(0)
    expect(stdout).toMatch(/^sink listening on 127\.0\.0\.1:\d+\n0 messages from 0 connections, 0 faults\n$/)
  })

  test.each([
    [['--chaos', 'do:drop'], '--chaos: "do:drop" is no chaos rule: "do" is no phase. Did you mean "dot"?'],
    [['--port', 'smtp'], '--port is "smtp"; it must be a whole number from 0 to 65535.'],
    [['--max-connections', '0'], '--max-connections is "0"'],
    [['--seed', '1.5'], '--seed is "1.5"'],
    [['--duration', 'ever'], '--duration is "ever"; it must be a duration such as 30s'],
    [['--duration', '30d'], '--duration is "30d"'],
    [['--tls', 'startls'], 'did you mean "starttls"?'],
    [['--auth', 'hunter2'], '--auth must be written as user:pass.'],
    [['--log', '/no/such/directory/log'], '--log is "/no/such/directory/log"; it cannot be written: ENOENT'],
    [['--host', '192.0.2.1'], '--host is "192.0.2.1"'],
    [['--choas', 'dot:drop'], '--chaos'],
  ])('%j is a mistake: one sentence and exit code 2', async (args, said) => {
    const { code, stdout, stderr } = await cli.run(['sink', '--port', '0', ...args])
    expect(stderr).toContain(said)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).not.toContain('hunter2')
    expect(stderr).not.toMatch(/^\s+at /m)
  })

  test('a port that is taken is said so', async () => {
    const { port } = await start()
    const { code, stderr } = await cli.run(['sink', '--port', String(port)])
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: `postrider: --port is "${port}"; another program listens there. 0 takes any free one.\n`,
    })
  })
})
