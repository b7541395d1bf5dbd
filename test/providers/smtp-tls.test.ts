import { networkInterfaces } from 'node:os'
import { describe, expect, test } from 'vitest'

import type { SmtpSettings } from '../../src/providers/smtp-settings.js'
import { closeAfterEach, certificate, pem, providerFor, send, SHORT, startServer } from './smtp-fixture.js'

closeAfterEach()

const PASSWORD: SmtpSettings['auth'] = { kind: 'password', user: 'robot', password: 'open sesame' }
const AUTH = ['PIPELINING', 'AUTH PLAIN LOGIN']
/** Nothing of ours but what a stranger may read. */
const HARMLESS = /^(EHLO client\.test|HELO client\.test|STARTTLS|QUIT)$/

describe.each([{ implicit: true }, { implicit: false }])('implicit: $implicit', ({ implicit }) => {
  const tlsSettings = { implicitTls: implicit, starttls: implicit ? 'off' : 'required', tlsCa: pem('ca') } as const

  test('a trusted certificate is enough', async () => {
    const server = await startServer({ extensions: AUTH, tls: { ...certificate('localhost'), implicit } })
    const provider = providerFor(server, { settings: { ...tlsSettings, auth: PASSWORD } })
    expect(await send(provider)).toMatchObject({ kind: 'accepted' })
    expect(await send(provider)).toMatchObject({ kind: 'accepted' })
    expect(server.taken).toHaveLength(2)
  })

  test.each([
    ['expired', /expired/],
    ['wrong-host', /does not match|altnames/],
    ['self-signed', /self-signed/],
  ])('a certificate that is %s is refused, before anything is said', async (name, words) => {
    for (const starttls of implicit ? (['off'] as const) : (['required', 'opportunistic'] as const)) {
      const server = await startServer({ extensions: AUTH, tls: { ...certificate(name), implicit } })
      const provider = providerFor(server, { settings: { ...tlsSettings, starttls, auth: PASSWORD } })
      expect(await send(provider)).toMatchObject({
        kind: 'deferred',
        failure: 'transient',
        evidence: { phase: 'tls', code: null, reply: expect.stringMatching(words) as string },
      })
      for (const line of server.heard) expect(line).toMatch(HARMLESS)
    }
  })

  test.each(['drop', 'reset', 'hang'] as const)('a %s means the same as without TLS', async (how) => {
    for (const [point, kind] of [
      ['mail', 'deferred'],
      ['data', 'deferred'],
      ['dot', 'uncertain'],
    ] as const) {
      const server = await startServer({ tls: { ...certificate('localhost'), implicit } })
      const timeouts = how === 'hang' ? SHORT : {}
      const provider = providerFor(server, { settings: tlsSettings, timeouts })
      server.script = (at) => (at === point ? { do: how } : undefined)
      expect(await send(provider)).toMatchObject({ kind, evidence: { code: null } })
      expect(server.connections).toBe(1)
      server.script = () => undefined
      expect(await send(provider)).toMatchObject({ kind: 'accepted' })
    }
  })

  test('any certificate will do when they are not verified', async () => {
    for (const name of ['expired', 'wrong-host', 'self-signed']) {
      const server = await startServer({ extensions: AUTH, tls: { ...certificate(name), implicit } })
      const provider = providerFor(server, { settings: { ...tlsSettings, verifyCertificate: false, auth: PASSWORD } })
      expect(await send(provider)).toMatchObject({ kind: 'accepted' })
    }
  })

  test('the name in the certificate can be given', async () => {
    const server = await startServer({ tls: { ...certificate('wrong-host'), implicit } })
    const provider = providerFor(server, { settings: { ...tlsSettings, tlsServerName: 'other.example.com' } })
    expect(await send(provider)).toMatchObject({ kind: 'accepted' })
    const other = providerFor(server, { settings: { ...tlsSettings, tlsServerName: 'third.example.com' } })
    expect(await send(other)).toMatchObject({ kind: 'deferred', evidence: { phase: 'tls' } })
  })

  test('a handshake that never ends is given up', async () => {
    const server = await startServer({ extensions: ['STARTTLS'] })
    // It answers the handshake with an SMTP greeting, or with nothing.
    server.script = (point) => (point === 'starttls' ? { do: 'reply', text: '220 Ready' } : undefined)
    if (implicit) server.script = () => ({ do: 'hang' })
    const provider = providerFor(server, { settings: tlsSettings, timeouts: SHORT })
    expect(await send(provider)).toMatchObject({ kind: 'deferred', failure: 'transient', evidence: { phase: 'tls' } })
  })
})

describe('STARTTLS', () => {
  test('stripped from the answer to EHLO, and required: nothing is sent in clear', async () => {
    const server = await startServer({ extensions: AUTH })
    const provider = providerFor(server, { settings: { starttls: 'required', auth: PASSWORD } })
    expect(await send(provider)).toMatchObject({
      kind: 'deferred',
      failure: 'transient',
      evidence: { phase: 'tls', code: 502 },
    })
    for (const line of server.heard) expect(line).toMatch(HARMLESS)
  })

  test('required, from a server that knows only HELO: nothing is sent in clear', async () => {
    const server = await startServer()
    server.script = (_point, line) =>
      line.startsWith('EHLO') ? { do: 'reply', text: '502 5.5.2 Not implemented' } : undefined
    const provider = providerFor(server, { settings: { starttls: 'required' } })
    expect(await send(provider)).toMatchObject({ kind: 'deferred', failure: 'transient' })
    for (const line of server.heard) expect(line).toMatch(HARMLESS)
  })

  test('offered, is used without being asked for', async () => {
    const server = await startServer({ tls: certificate('localhost') })
    const provider = providerFor(server, { settings: { starttls: 'opportunistic', tlsCa: pem('ca') } })
    expect(await send(provider)).toMatchObject({ kind: 'accepted' })
    expect(server.heard).toContain('STARTTLS')
  })

  test('offered, is not used when off', async () => {
    const server = await startServer({ tls: certificate('localhost') })
    const provider = providerFor(server, { settings: { starttls: 'off' } })
    expect(await send(provider)).toMatchObject({ kind: 'accepted' })
    expect(server.heard).not.toContain('STARTTLS')
  })

  test('refused, and not required: goes on in clear, without a password', async () => {
    const server = await startServer({ extensions: ['STARTTLS', ...AUTH] })
    server.script = (point) => (point === 'starttls' ? { do: 'reply', text: '454 4.7.0 Not now' } : undefined)
    expect(await send(providerFor(server))).toMatchObject({ kind: 'accepted' })
    const provider = providerFor(server, { settings: { auth: PASSWORD } })
    expect((await send(provider)).kind).not.toBe('accepted')
    expect(server.heard.some((line) => line.startsWith('AUTH'))).toBe(false)
  })

  test('what is said in clear after its answer is forgotten', async () => {
    const injected = ['250-injected\r\n250 AUTH PLAIN\r\n', '250-inj', '535 5.7.8 no\r\n220 x\r\n']
    for (const injectAfterStarttls of injected) {
      const server = await startServer({ extensions: [], tls: certificate('localhost'), injectAfterStarttls })
      const provider = providerFor(server, {
        settings: { starttls: 'required', tlsCa: pem('ca'), auth: PASSWORD },
      })
      // Over TLS the server offers no AUTH; the injected offer must not be believed.
      const result = await send(provider)
      expect(result.kind).not.toBe('accepted')
      expect(server.heard.some((line) => line.startsWith('AUTH'))).toBe(false)
      expect(server.taken).toEqual([])
    }
  })
})

describe('a password in clear', () => {
  const elsewhere = Object.values(networkInterfaces())
    .flat()
    .find((each) => each && !each.internal && each.family === 'IPv4')?.address

  test.skipIf(!elsewhere)('is not sent to another machine', async () => {
    const server = await startServer({ host: '0.0.0.0', extensions: AUTH })
    const provider = providerFor(server, { settings: { host: elsewhere!, auth: PASSWORD } })
    expect(await send(provider)).toMatchObject({
      kind: 'deferred',
      failure: 'transient',
      evidence: { phase: 'tls', reply: 'the server offers no encryption, and the password is not sent in clear' },
    })
    for (const line of server.heard) expect(line).toMatch(HARMLESS)
  })

  test.skipIf(!elsewhere)('is sent when somebody wrote that TLS is off', async () => {
    const server = await startServer({ host: '0.0.0.0', extensions: AUTH })
    const provider = providerFor(server, { settings: { host: elsewhere!, auth: PASSWORD, starttls: 'off' } })
    expect(await send(provider)).toMatchObject({ kind: 'accepted' })
  })

  test('is sent to this machine', async () => {
    const server = await startServer({ extensions: AUTH })
    const provider = providerFor(server, { settings: { auth: PASSWORD } })
    expect(await send(provider)).toMatchObject({ kind: 'accepted' })
  })
})
