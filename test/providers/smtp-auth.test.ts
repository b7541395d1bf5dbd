import { describe, expect, test } from 'vitest'

import type { SmtpSettings } from '../../src/providers/smtp-settings.js'
import { closeAfterEach, providerFor, send, SHORT, startServer } from './smtp-fixture.js'

closeAfterEach()

const USER = 'robot@example.com'
const SECRET = 'correct-horse/battery+staple=42'
const PASSWORD: SmtpSettings['auth'] = { kind: 'password', user: USER, password: SECRET }
const TOKEN: SmtpSettings['auth'] = { kind: 'xoauth2', user: USER, accessToken: SECRET }
const base64 = (text: string) => Buffer.from(text).toString('base64')

describe('authentication', () => {
  test('PLAIN', async () => {
    const server = await startServer({ extensions: ['AUTH LOGIN PLAIN'] })
    expect(await send(providerFor(server, { settings: { auth: PASSWORD } }))).toMatchObject({ kind: 'accepted' })
    expect(server.heard).toContain(`AUTH PLAIN ${base64(`\0${USER}\0${SECRET}`)}`)
  })

  test('LOGIN', async () => {
    const server = await startServer({ extensions: ['AUTH LOGIN'] })
    expect(await send(providerFor(server, { settings: { auth: PASSWORD } }))).toMatchObject({ kind: 'accepted' })
    expect(server.heard.slice(1, 4)).toEqual(['AUTH LOGIN', base64(USER), base64(SECRET)])
  })

  test('XOAUTH2', async () => {
    const server = await startServer({ extensions: ['AUTH XOAUTH2 PLAIN'] })
    expect(await send(providerFor(server, { settings: { auth: TOKEN } }))).toMatchObject({ kind: 'accepted' })
    expect(server.heard[1]).toBe(`AUTH XOAUTH2 ${base64(`user=${USER}\x01auth=Bearer ${SECRET}\x01\x01`)}`)
  })

  test('once per connection', async () => {
    const server = await startServer({ extensions: ['AUTH PLAIN'] })
    const provider = providerFor(server, { settings: { auth: PASSWORD, maxConnections: 1 } })
    for (let i = 0; i < 3; i++) await send(provider)
    expect(server.heard.filter((line) => line.startsWith('AUTH'))).toHaveLength(1)
  })

  test('of a token that has expired, with the reason before the refusal', async () => {
    const server = await startServer({ extensions: ['AUTH XOAUTH2'] })
    server.script = (point, line) => {
      if (point !== 'auth') return undefined
      const text = line === '' ? '535 5.7.8 Token expired' : `334 ${base64('{"status":"401"}')}`
      return { do: 'reply', text }
    }
    expect(await send(providerFor(server, { settings: { auth: TOKEN } }))).toMatchObject({
      kind: 'rejected',
      failure: 'sender',
      evidence: { phase: 'auth', code: 535, enhancedCode: '5.7.8' },
    })
  })

  test('not offered is the fault of the sender', async () => {
    const server = await startServer({ extensions: ['PIPELINING'] })
    expect(await send(providerFor(server, { settings: { auth: PASSWORD } }))).toMatchObject({
      kind: 'rejected',
      failure: 'sender',
      evidence: { phase: 'auth', code: null, reply: 'the server does not offer authentication' },
    })
    expect(server.heard.some((line) => line.includes(base64(SECRET)))).toBe(false)
  })

  test('a server that asks for ever is given up', async () => {
    const server = await startServer({ extensions: ['AUTH PLAIN'] })
    server.script = (point) => (point === 'auth' ? { do: 'reply', text: '334 ' } : undefined)
    const result = await send(providerFor(server, { settings: { auth: PASSWORD }, timeouts: SHORT }))
    expect(result).toMatchObject({ kind: 'deferred', failure: 'transient', evidence: { phase: 'auth', code: null } })
  })
})

describe('a credential', () => {
  const ECHOES = [
    `535 5.7.8 Bad: AUTH PLAIN ${base64(`\0${USER}\0${SECRET}`)}`,
    `501 5.5.2 Cannot decode ${base64(`\0${USER}\0${SECRET}`).slice(0, 24)}...`,
    `535 Wrong password "${SECRET}" for ${USER}`,
    `535 Wrong password ${base64(SECRET)}`,
    `454 4.7.0 Later, ${base64(`user=${USER}\x01auth=Bearer ${SECRET}\x01\x01`)}`,
    `535-5.7.8 one ${SECRET}\r\n535 5.7.8 two ${SECRET}`,
  ]

  test.each(ECHOES)('is in no result, whatever the server repeats: %s', async (text) => {
    for (const auth of [PASSWORD, TOKEN]) {
      for (const at of ['auth', 'mail', 'dot'] as const) {
        const server = await startServer({ extensions: ['AUTH PLAIN XOAUTH2'] })
        server.script = (point) => (point === at ? { do: 'reply', text } : undefined)
        const logged: unknown[] = []
        const provider = providerFor(server, { settings: { auth }, log: { warn: (...all) => void logged.push(all) } })
        const said = JSON.stringify([await send(provider), at === 'auth' ? await provider.verify() : null, logged])
        expect(said).toContain('"phase"')
        const secrets = [SECRET, ...ownEncodings(auth)]
        for (const secret of secrets) {
          expect(said).not.toContain(JSON.stringify(secret).slice(1, -1))
          expect(said).not.toContain(secret.slice(0, 20))
        }
      }
    }
  })

  test('is in no result when the connection breaks at authentication', async () => {
    for (const act of ['drop', 'reset', 'hang', 'garbage', 'oversized'] as const) {
      const server = await startServer({ extensions: ['AUTH PLAIN'] })
      server.script = (point) => (point === 'auth' ? { do: act } : undefined)
      const said = JSON.stringify(await send(providerFor(server, { settings: { auth: PASSWORD }, timeouts: SHORT })))
      for (const secret of [SECRET, ...ownEncodings(PASSWORD)]) expect(said).not.toContain(secret)
    }
  })

  function ownEncodings(auth: SmtpSettings['auth']): string[] {
    if (auth.kind === 'xoauth2') return [base64(`user=${USER}\x01auth=Bearer ${SECRET}\x01\x01`)]
    return [base64(SECRET), base64(`\0${USER}\0${SECRET}`)]
  }
})

describe('verify', () => {
  test('says hello, authenticates, and sends nothing', async () => {
    const server = await startServer({ extensions: ['AUTH PLAIN'] })
    const provider = providerFor(server, { settings: { auth: PASSWORD } })
    expect(await provider.verify()).toMatchObject({
      ok: true,
      evidence: { phase: 'auth', code: 235, enhancedCode: '2.7.0', remoteHost: `127.0.0.1:${server.port}` },
    })
    expect(server.heard.map((line) => line.split(' ')[0])).toEqual(['EHLO', 'AUTH', 'QUIT'])
    await server.when(() => server.open.size === 0)
  })

  test('says what is wrong', async () => {
    const server = await startServer({ extensions: ['AUTH PLAIN'] })
    server.script = (point) => (point === 'auth' ? { do: 'reply', text: '535 5.7.8 No' } : undefined)
    const provider = providerFor(server, { settings: { auth: PASSWORD } })
    expect(await provider.verify()).toMatchObject({
      ok: false,
      evidence: { phase: 'auth', code: 535, reply: '5.7.8 No' },
    })
  })

  test('stops when told to', async () => {
    const server = await startServer()
    server.script = () => ({ do: 'hang' })
    const controller = new AbortController()
    const verifying = providerFor(server).verify(controller.signal)
    await server.when(() => server.connections === 1)
    controller.abort()
    expect(await verifying).toMatchObject({ ok: false })
  })
})
