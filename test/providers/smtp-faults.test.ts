import { describe, expect, test } from 'vitest'

import type { Phase } from '../../src/domain/failure.js'
import type { ProviderResult } from '../../src/providers/provider.js'
import type { SmtpTimeouts } from '../../src/providers/smtp/smtp-timeouts.js'
import type { Act, Point } from '../support/scripted-smtp.js'
import { closeAfterEach, BODY, certificate, pem, providerFor, send, startServer, TestHold } from './smtp-fixture.js'

closeAfterEach()

/**
 * Every point of the conversation against everything that can go wrong there. The judge is the server: what it took,
 * and that nothing but a whole reply is believed once the body has begun.
 */
const PHASE_AT: Readonly<Record<string, Phase>> = {
  greeting: 'greeting',
  ehlo: 'greeting',
  starttls: 'tls',
  auth: 'auth',
  mail: 'mail',
  rcpt: 'rcpt',
  data: 'data',
  body: 'body',
  dot: 'reply',
}
const AT = Object.keys(PHASE_AT) as Point[]

const TEMPORARY = '451 4.3.0 Try again later'
const PERMANENT: Readonly<Record<string, string>> = {
  greeting: '554 5.3.2 No service here',
  ehlo: '550 5.7.1 Go away',
  starttls: '502 5.5.1 Not here',
  auth: '535 5.7.8 Bad credentials',
  mail: '552 5.3.4 Too big',
  rcpt: '550 5.1.1 No such user',
  data: '554 5.5.1 No',
  body: '552 5.3.4 Too big after all',
  dot: '554 5.6.0 Unacceptable content',
}

const FAULTS: Readonly<Record<string, (point: Point) => Act>> = {
  '4xx': () => ({ do: 'reply', text: TEMPORARY }),
  '5xx': (point) => ({ do: 'reply', text: PERMANENT[point]! }),
  drop: () => ({ do: 'drop' }),
  reset: () => ({ do: 'reset' }),
  hang: () => ({ do: 'hang' }),
  'half-close': () => ({ do: 'half-close' }),
  garbage: () => ({ do: 'garbage' }),
  'oversized line': () => ({ do: 'oversized' }),
  'endless lines': () => ({ do: 'oversized', lines: true }),
  'slow bytes': () => ({ do: 'drip', text: '250-2.0.0 queued as '.repeat(10), everyMs: 20 }),
}

/** Only a server that hangs is given up by the clock, and only by that of the step it hangs at. */
function timeoutsFor(point: Point, fault: string): Partial<SmtpTimeouts> {
  if (fault !== 'hang' && fault !== 'slow bytes') return {}
  if (point === 'greeting') return { greetingMs: 500 }
  if (point === 'body') return { bodyMs: 500 }
  return point === 'dot' ? { replyMs: 500 } : { commandMs: 500 }
}

function expected(
  point: Point,
  fault: string,
): { kind: ProviderResult['kind']; failure?: string; code: number | null } {
  if (fault === '4xx') return { kind: 'deferred', failure: 'transient', code: 451 }
  if (fault === '5xx') {
    const code = Number(PERMANENT[point]!.slice(0, 3))
    if (point === 'auth') return { kind: 'rejected', failure: 'sender', code }
    if (point === 'rcpt') return { kind: 'rejected', failure: 'recipient', code }
    if (PHASE_AT[point] === 'greeting' || point === 'starttls') return { kind: 'deferred', failure: 'transient', code }
    return { kind: 'rejected', failure: 'message', code }
  }
  if (point === 'body' || point === 'dot') return { kind: 'uncertain', code: null }
  return { kind: 'deferred', failure: 'transient', code: null }
}

const LARGE = Buffer.from(`Subject: large\r\n\r\n${`${'x'.repeat(76)}\r\n`.repeat(220_000)}`)

describe.each([
  { name: 'with PIPELINING', extensions: ['PIPELINING', 'SIZE 50000000', 'AUTH PLAIN'] },
  { name: 'without PIPELINING', extensions: ['AUTH PLAIN'] },
])('$name', ({ extensions }) => {
  for (const point of AT) {
    for (const [fault, act] of Object.entries(FAULTS)) {
      test(`${fault} at ${point}`, async () => {
        const server = await startServer({ extensions, tls: certificate('localhost') })
        let isOver = false
        const provider = providerFor(server, {
          timeouts: timeoutsFor(point, fault),
          body: () => (isOver ? BODY : point === 'body' ? LARGE : BODY),
          settings: {
            tlsCa: pem('ca'),
            starttls: point === 'starttls' ? 'required' : 'off',
            auth: point === 'auth' ? { kind: 'password', user: 'u', password: 'secret' } : { kind: 'none' },
          },
        })
        server.takesAtDot = false
        server.script = (at) => (at === point ? act(point) : undefined)

        const result = await send(provider)

        const { kind, failure, code } = expected(point, fault)
        // A reset on the spot may overtake the news that the connection stands.
        const phases = point === 'greeting' && fault === 'reset' ? /^(connect|greeting)$/ : `^${PHASE_AT[point]}$`
        expect(result).toMatchObject({
          kind,
          ...(failure !== undefined && { failure }),
          evidence: { phase: expect.stringMatching(phases) as string, code, remoteHost: `127.0.0.1:${server.port}` },
        })
        if (result.kind === 'released') throw new Error('unreachable')
        expect(result.evidence.reply).not.toBe('')
        expect(result.evidence.durationMs).toBeLessThan(5_000)
        expect(server.heard.filter((line) => line === '<body>')).toHaveLength(
          point === 'body' || point === 'dot' ? 1 : 0,
        )

        // Never a second attempt, and the next email goes its way.
        isOver = true
        server.takesAtDot = true
        server.script = () => undefined
        expect(await send(provider)).toMatchObject({ kind: 'accepted' })
        expect(server.taken).toHaveLength(1)
      })
    }
  }
})

describe('after the dot', () => {
  test.each([true, false])('a drop is uncertain, whether the message was taken (%s) or not', async (taken) => {
    const server = await startServer()
    const provider = providerFor(server)
    server.takesAtDot = taken
    server.script = (point) => (point === 'dot' ? { do: 'drop' } : undefined)
    expect(await send(provider)).toMatchObject({
      kind: 'uncertain',
      evidence: { phase: 'reply', code: null, reply: 'the server closed the connection' },
    })
    expect(server.taken).toHaveLength(taken ? 1 : 0)
    expect(server.connections).toBe(1)
  })

  test.each([true, false])('a reset is uncertain, whether the message was taken (%s) or not', async (taken) => {
    const server = await startServer()
    const provider = providerFor(server)
    server.takesAtDot = taken
    server.script = (point) => (point === 'dot' ? { do: 'reset' } : undefined)
    expect(await send(provider)).toMatchObject({ kind: 'uncertain', evidence: { phase: 'reply' } })
    expect(server.connections).toBe(1)
  })

  test('421 is a reply: the message was not taken', async () => {
    const server = await startServer()
    const provider = providerFor(server)
    server.takesAtDot = false
    server.script = (point) => (point === 'dot' ? { do: 'reply', text: '421 4.3.2 Shutting down' } : undefined)
    expect(await send(provider)).toMatchObject({
      kind: 'deferred',
      failure: 'transient',
      evidence: { phase: 'reply', code: 421, enhancedCode: '4.3.2', reply: '4.3.2 Shutting down' },
    })
    await server.when(() => server.open.size === 0)
  })

  test('half a reply, then a drop, is no reply, whatever its digits say', async () => {
    for (const half of ['250 2.0.0 O', '451 4.3.0 ', '550-5.1.1 No\r\n550-']) {
      const server = await startServer()
      const provider = providerFor(server)
      server.script = (point) => (point === 'dot' ? { do: 'drip', text: half, everyMs: 0, thenDrop: true } : undefined)
      expect(await send(provider), half).toMatchObject({ kind: 'uncertain' })
    }
  })

  test.each(['354 go on', '2', '25', '250ok', '999 what', '250-a\r\n251 b', '-250 ok'])(
    '"%s" is no answer',
    async (text) => {
      const server = await startServer()
      const provider = providerFor(server)
      server.script = (point) => (point === 'dot' ? { do: 'reply', text } : undefined)
      expect(await send(provider)).toMatchObject({ kind: 'uncertain', evidence: { code: null } })
    },
  )

  test('a reply of several lines is one reply', async () => {
    const server = await startServer()
    const provider = providerFor(server)
    server.script = (point) =>
      point === 'dot'
        ? { do: 'reply', text: '250-2.0.0 Thank you\r\n250-2.0.0 very much\r\n250 2.0.0 indeed' }
        : undefined
    expect(await send(provider)).toMatchObject({
      kind: 'accepted',
      evidence: { phase: 'reply', code: 250, enhancedCode: '2.0.0', reply: '2.0.0 Thank you very much indeed' },
    })
  })

  test('a slow reply within its time is waited for, long past the time of the other steps', async () => {
    const server = await startServer()
    const provider = providerFor(server, { timeouts: { commandMs: 500, bodyMs: 500 } })
    server.script = (point) => (point === 'dot' ? { do: 'drip', text: '250 2.0.0 Ok\r\n', everyMs: 50 } : undefined)
    expect(await send(provider)).toMatchObject({ kind: 'accepted' })
  })
})

describe('in the middle of the body', () => {
  test.each(['250 2.0.0 Thank you', '354 Go on'])('"%s" is not believed', async (text) => {
    const server = await startServer()
    const provider = providerFor(server, { body: LARGE })
    server.script = (point) => (point === 'body' ? { do: 'reply', text } : undefined)
    expect(await send(provider)).toMatchObject({ kind: 'uncertain', evidence: { phase: 'body', code: null } })
    expect(server.taken).toEqual([])
  })

  test('a large body, written in stretches, arrives whole', async () => {
    const server = await startServer()
    const provider = providerFor(server, { body: LARGE, timeouts: { bodyMs: 10_000 } })
    expect(await send(provider)).toMatchObject({ kind: 'accepted' })
    expect(server.taken[0]!.raw.length).toBe(LARGE.length)
  })
})

describe('before the body', () => {
  test.each(['354 go\r\n250 2.0.0 taken', '354 go\r\n25', '250 ok', '220 hello'])(
    'DATA answered with "%s" does not open the body',
    async (text) => {
      const server = await startServer()
      const provider = providerFor(server)
      server.script = (point) => (point === 'data' ? { do: 'reply', text } : undefined)
      const hold = new TestHold()
      expect(await send(provider, hold)).toMatchObject({
        kind: 'deferred',
        failure: 'transient',
        evidence: { phase: 'data', code: null },
      })
      expect(hold.armed).toBe(0)
      expect(server.taken).toEqual([])
      expect(server.heard).not.toContain('<body>')
    },
  )

  test('a server nobody listens for', async () => {
    const server = await startServer()
    const { port } = server
    await server.close()
    const provider = providerFor({ port })
    expect(await send(provider)).toMatchObject({
      kind: 'deferred',
      failure: 'transient',
      evidence: { phase: 'connect', code: null, reply: expect.stringContaining('ECONNREFUSED') as string },
    })
  })

  test('a name that does not exist', async () => {
    const provider = providerFor(
      { port: 25 },
      { settings: { host: 'nowhere.invalid' }, timeouts: { connectMs: 5_000 } },
    )
    expect(await send(provider)).toMatchObject({
      kind: 'deferred',
      failure: 'transient',
      evidence: { phase: 'connect' },
    })
  })

  test('greylisting, then accepted over the same connection', async () => {
    const server = await startServer()
    const provider = providerFor(server, { settings: { maxConnections: 1 } })
    let attempts = 0
    server.script = (point) =>
      point === 'rcpt' && ++attempts === 1
        ? { do: 'reply', text: '450 4.2.0 Greylisted, try again in 300 seconds' }
        : undefined
    expect(await send(provider)).toMatchObject({ kind: 'deferred', failure: 'transient', retryAfterMs: 300_000 })
    expect(await send(provider)).toMatchObject({ kind: 'accepted' })
    expect(server.connections).toBe(1)
    expect(server.heard).toContain('RSET')
  })
})
