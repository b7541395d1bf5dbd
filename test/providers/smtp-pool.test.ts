import { describe, expect, test } from 'vitest'

import { closeAfterEach, promised, providerFor, send, startServer, TestHold } from './smtp-fixture.js'

closeAfterEach()

describe('connections', () => {
  test('are never more than allowed, and are shared by all', async () => {
    const server = await startServer()
    const provider = providerFor(server, { settings: { maxConnections: 3 } })
    const results = await Promise.all(Array.from({ length: 50 }, () => send(provider)))
    expect(results.every(({ kind }) => kind === 'accepted')).toBe(true)
    expect(server.connections).toBe(3)
    expect(server.taken).toHaveLength(50)
  })

  test('are opened a few at a time, however many are wanted', async () => {
    const server = await startServer()
    server.script = (_point, _line, connection) => (connection <= 8 ? { do: 'hang' } : undefined)
    const provider = providerFor(server, { settings: { maxConnections: 50 } })
    const holds = Array.from({ length: 40 }, () => new TestHold())
    const sending = Promise.all(holds.map((hold) => send(provider, hold)))
    await server.when(() => server.connections === 8)
    // Somebody else's comes after all that were asked for before it.
    expect(await send(providerFor(server))).toMatchObject({ kind: 'accepted' })
    expect(server.connections).toBe(9)
    for (const { controller } of holds) controller.abort()
    for (const result of await sending) expect(result).toEqual({ kind: 'released' })
  })

  test('are opened as soon as others are open, whatever those are waiting for', async () => {
    const server = await startServer()
    server.script = (point) => (point === 'dot' ? { do: 'hang' } : undefined)
    const provider = providerFor(server, { settings: { maxConnections: 40 } })
    const sending = Array.from({ length: 40 }, () => send(provider))
    await server.when(() => server.taken.length === 40)
    provider.cutShort()
    for (const result of await Promise.all(sending)) expect(result).toMatchObject({ kind: 'uncertain' })
  })

  test('are ended after so many messages', async () => {
    const server = await startServer()
    const provider = providerFor(server, { settings: { maxConnections: 1, maxMessagesPerConnection: 4 } })
    for (let i = 0; i < 10; i++) expect(await send(provider)).toMatchObject({ kind: 'accepted' })
    expect(server.connections).toBe(3)
    expect(server.heard.filter((line) => line === 'QUIT')).toHaveLength(2)
  })

  test('are ended when nobody needs them', async () => {
    const server = await startServer()
    const provider = providerFor(server, { timeouts: { idleMs: 30 } })
    await send(provider)
    await server.when(() => server.open.size === 0)
    expect(server.heard.at(-1)).toBe('QUIT')
    expect(await send(provider)).toMatchObject({ kind: 'accepted' })
  })

  test('go to those who waited longest', async () => {
    const server = await startServer()
    const provider = providerFor(server, { settings: { maxConnections: 1 } })
    const order: number[] = []
    await Promise.all([1, 2, 3, 4, 5].map((number) => send(provider, new TestHold(() => (order.push(number), true)))))
    expect(order).toEqual([1, 2, 3, 4, 5])
  })

  test('a waiter leaves when its signal comes, and nobody else notices', async () => {
    const server = await startServer()
    const provider = providerFor(server, { settings: { maxConnections: 1 } })
    const first = promised<boolean>()
    const armed = promised<void>()
    const busy = send(provider, new TestHold(() => (armed.resolve(), first.promise)))
    await armed.promise
    const impatient = new TestHold()
    const leaves = send(provider, impatient)
    const stays = send(provider)
    impatient.controller.abort()
    expect(await leaves).toEqual({ kind: 'released' })
    first.resolve(true)
    expect(await busy).toMatchObject({ kind: 'accepted' })
    expect(await stays).toMatchObject({ kind: 'accepted' })
    expect(server.taken).toHaveLength(2)
    expect(server.connections).toBe(1)
  })

  test.each(['mail', 'rcpt', 'data'] as const)('stay usable after a refusal at %s', async (point) => {
    for (const extensions of [['PIPELINING'], []]) {
      const server = await startServer({ extensions })
      const provider = providerFor(server, { settings: { maxConnections: 1 } })
      let refusals = 0
      server.script = (at) =>
        at === point && ++refusals === 1 ? { do: 'reply', text: '550 5.1.1 No such user' } : undefined
      expect(await send(provider)).toMatchObject({ kind: 'rejected' })
      expect(await send(provider)).toMatchObject({ kind: 'accepted' })
      expect(server.connections).toBe(1)
      expect(server.taken).toHaveLength(1)
    }
  })

  test('one whose server opens the body for a refused recipient is given up', async () => {
    const server = await startServer()
    const provider = providerFor(server, { settings: { maxConnections: 1 } })
    server.script = (at, _line, connection) => {
      if (connection > 1) return undefined
      if (at === 'rcpt') return { do: 'reply', text: '550 5.1.1 No such user' }
      return at === 'data' ? { do: 'reply', text: '354 Go ahead' } : undefined
    }
    expect(await send(provider)).toMatchObject({ kind: 'rejected', failure: 'recipient', evidence: { phase: 'rcpt' } })
    expect(await send(provider)).toMatchObject({ kind: 'accepted' })
    expect(server.connections).toBe(2)
    expect(server.taken).toHaveLength(1)
  })
})

describe('a connection that died while idle', () => {
  test.each(['drop', 'reset'] as const)('by %s fails no email', async (how) => {
    const server = await startServer()
    const provider = providerFor(server)
    await send(provider)
    server.dropAll(how)
    expect(await send(provider)).toMatchObject({ kind: 'accepted' })
    expect(server.taken).toHaveLength(2)
  })

  test.each(['drop', 'reset', 'hang'] as const)('and says so only at MAIL, by %s, fails no email', async (how) => {
    for (const extensions of [['PIPELINING'], []]) {
      const server = await startServer({ extensions })
      const provider = providerFor(server, { timeouts: { commandMs: 500 } })
      await send(provider)
      server.script = (point, _line, connection) => (point === 'mail' && connection === 1 ? { do: how } : undefined)
      const hold = new TestHold()
      expect(await send(provider, hold)).toMatchObject({ kind: 'accepted' })
      expect(hold.armed).toBe(1)
      expect(server.connections).toBe(2)
      expect(server.taken).toHaveLength(2)
    }
  })

  test('with a 421 on its way fails no email', async () => {
    const server = await startServer()
    const provider = providerFor(server)
    await send(provider)
    server.script = (point, _line, connection) =>
      point === 'mail' && connection === 1 ? { do: 'reply', text: '421 4.4.2 Idle too long' } : undefined
    expect(await send(provider)).toMatchObject({ kind: 'accepted' })
    expect(server.connections).toBe(2)
  })

  test.each(['body', 'dot'] as const)('is never replaced once the body began, at %s', async (at) => {
    for (const how of ['drop', 'reset'] as const) {
      const server = await startServer()
      const provider = providerFor(server)
      await send(provider)
      server.script = (point) => (point === at ? { do: how } : undefined)
      expect(await send(provider)).toMatchObject({ kind: 'uncertain' })
      expect(server.connections).toBe(1)
      expect(server.taken).toHaveLength(at === 'dot' ? 2 : 1)
    }
  })

  test('is replaced once, not for ever', async () => {
    const server = await startServer()
    const provider = providerFor(server)
    await send(provider)
    server.script = (point) => (point === 'mail' ? { do: 'drop' } : undefined)
    expect(await send(provider)).toMatchObject({ kind: 'deferred', failure: 'transient', evidence: { phase: 'mail' } })
    expect(server.connections).toBe(2)
  })

  test('is not replaced once the server has answered', async () => {
    const server = await startServer({ extensions: [] })
    const provider = providerFor(server)
    await send(provider)
    server.script = (point) => (point === 'rcpt' ? { do: 'drop' } : undefined)
    expect(await send(provider)).toMatchObject({ kind: 'deferred', evidence: { phase: 'rcpt' } })
    expect(server.connections).toBe(1)
  })
})

describe('a server that wants fewer connections', () => {
  const TOO_MANY = { do: 'reply', text: '421 4.7.0 Too many connections from you' } as const

  test('gets fewer, and every email still goes out', async () => {
    const server = await startServer()
    const warnings: object[] = []
    const provider = providerFor(server, {
      settings: { maxConnections: 10 },
      log: { warn: (fields) => void warnings.push(fields) },
    })
    server.script = (point) => (point === 'greeting' && server.open.size > 2 ? TOO_MANY : undefined)
    const results = await Promise.all(Array.from({ length: 40 }, () => send(provider)))
    expect(results.filter(({ kind }) => kind === 'accepted').length).toBe(40)
    expect(warnings.length).toBeGreaterThan(0)
    const before = server.connections
    await Promise.all(Array.from({ length: 40 }, () => send(provider)))
    expect(server.connections).toBe(before)
  })

  test('gets more again after a while', async () => {
    const server = await startServer()
    const provider = providerFor(server, {
      settings: { maxConnections: 4 },
      timeouts: { fewerConnectionsMs: 1 },
    })
    server.script = (point) => (point === 'greeting' && server.open.size > 1 ? TOO_MANY : undefined)
    await Promise.all(Array.from({ length: 8 }, () => send(provider)))
    server.script = () => undefined
    // Longer than the while.
    await new Promise((resolve) => setTimeout(resolve, 5))
    await Promise.all(Array.from({ length: 40 }, () => send(provider)))
    expect(server.open.size).toBe(4)
  })

  test('and has none of ours open, defers the email as throttled', async () => {
    const server = await startServer()
    const provider = providerFor(server)
    server.script = (point) => (point === 'greeting' ? TOO_MANY : undefined)
    expect(await send(provider)).toMatchObject({ kind: 'deferred', failure: 'throttled', evidence: { code: 421 } })
  })
})

describe('closing', () => {
  test('ends idle connections at once, and waits for those in use', async () => {
    const server = await startServer()
    const provider = providerFor(server)
    await Promise.all([send(provider), send(provider)])
    const armed = promised<void>()
    const committed = promised<boolean>()
    const busy = send(provider, new TestHold(() => (armed.resolve(), committed.promise)))
    await armed.promise
    let isClosed = false
    const closing = provider.close().then(() => (isClosed = true))
    await server.when(() => server.open.size === 1)
    expect(isClosed).toBe(false)
    committed.resolve(true)
    expect(await busy).toMatchObject({ kind: 'accepted' })
    await closing
    await server.when(() => server.open.size === 0)
    expect(await send(provider)).toEqual({ kind: 'released' })
  })

  test('in a hurry ends conversations where they are, and says of each what is known', async () => {
    const server = await startServer()
    server.script = (point) => (point === 'dot' ? { do: 'hang' } : undefined)
    const provider = providerFor(server)
    const silent = send(provider)
    await server.when(() => server.taken.length === 1)
    const armed = promised<void>()
    const committed = promised<boolean>()
    const arming = send(provider, new TestHold(() => (armed.resolve(), committed.promise)))
    await armed.promise
    provider.cutShort()
    expect(await silent).toMatchObject({
      kind: 'uncertain',
      evidence: { phase: 'reply', reply: expect.stringContaining('we had to stop') as string },
    })
    committed.resolve(true)
    expect(await arming).toMatchObject({ kind: 'deferred', failure: 'transient', evidence: { phase: 'data' } })
    await provider.close()
    expect(server.taken).toHaveLength(1)
  })

  test('releases whoever waits', async () => {
    const server = await startServer()
    const provider = providerFor(server, { settings: { maxConnections: 1 } })
    const armed = promised<void>()
    const committed = promised<boolean>()
    const busy = send(provider, new TestHold(() => (armed.resolve(), committed.promise)))
    await armed.promise
    const waiting = send(provider)
    // The composer's turn comes before the pool's.
    await new Promise((resolve) => setImmediate(resolve))
    const closing = Promise.all([provider.close(), provider.close()])
    expect(await waiting).toEqual({ kind: 'released' })
    committed.resolve(true)
    expect(await busy).toMatchObject({ kind: 'accepted' })
    await closing
  })
})
