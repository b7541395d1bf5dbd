import { describe, expect, test } from 'vitest'

import type { Point } from '../support/scripted-smtp.js'
import { closeAfterEach, promised, providerFor, send, startServer, TestHold } from './smtp-fixture.js'

closeAfterEach()

/** The one thing everything else rests on: no byte of a body leaves before its arm is committed. */
describe.each([{ extensions: ['PIPELINING'] }, { extensions: [] }])('with extensions $extensions', ({ extensions }) => {
  test('the arm comes after 354 and before any byte of the body', async () => {
    const server = await startServer({ extensions })
    const provider = providerFor(server)
    let heardAtArm: string[] = []
    const committed = promised<boolean>()
    const asked = promised<void>()
    const hold = new TestHold(() => {
      heardAtArm = [...server.heard]
      asked.resolve()
      return committed.promise
    })
    const result = send(provider, hold)
    await asked.promise
    expect(heardAtArm.at(-1)).toBe('DATA')
    // The server answers whatever it is told next; a body on its way would be heard before this.
    const probe = providerFor(server)
    expect(await probe.verify()).toMatchObject({ ok: true })
    expect(server.heard).not.toContain('<body>')
    committed.resolve(true)
    expect(await result).toMatchObject({ kind: 'accepted' })
    expect(server.heard.filter((line) => line === '<body>')).toHaveLength(1)
    expect(hold.armed).toBe(1)
  })

  test('no arm is asked for while DATA can still be refused', async () => {
    for (const point of ['greeting', 'ehlo', 'mail', 'rcpt', 'data'] as const) {
      const server = await startServer({ extensions })
      const provider = providerFor(server)
      server.script = (at) => (at === point ? { do: 'reply', text: '451 4.3.0 Not now' } : undefined)
      const hold = new TestHold()
      expect(await send(provider, hold)).toMatchObject({ kind: 'deferred' })
      expect(hold.armed).toBe(0)
    }
  })

  test('an arm that is refused releases the email, and the server takes nothing', async () => {
    const server = await startServer({ extensions })
    const provider = providerFor(server)
    expect(await send(provider, new TestHold(() => false))).toEqual({ kind: 'released' })
    await server.when(() => server.open.size === 0)
    expect(server.heard).not.toContain('<body>')
    expect(server.taken).toEqual([])
    expect(await send(provider)).toMatchObject({ kind: 'accepted' })
  })

  test('a hold that was lost right after the arm releases the email', async () => {
    const server = await startServer({ extensions })
    const provider = providerFor(server)
    const hold = new TestHold(
      () => true,
      () => false,
    )
    expect(await send(provider, hold)).toEqual({ kind: 'released' })
    await server.when(() => server.open.size === 0)
    expect(server.heard).not.toContain('<body>')
    expect(server.taken).toEqual([])
  })

  test('an arm that throws is thrown on, and the connection is not used again', async () => {
    const server = await startServer({ extensions })
    const provider = providerFor(server)
    const hold = new TestHold(() => Promise.reject(new Error('database away')))
    await expect(send(provider, hold)).rejects.toThrow('database away')
    await server.when(() => server.open.size === 0)
    expect(server.taken).toEqual([])
  })

  test('a connection lost while the arm is being committed hands nothing over', async () => {
    for (const armed of [true, false]) {
      const server = await startServer({ extensions })
      const provider = providerFor(server)
      const hold = new TestHold(async () => {
        server.dropAll('reset')
        await server.when(() => server.open.size === 0)
        // The news reaches us through the operating system; a turn of the event loop brings it.
        await new Promise((resolve) => setImmediate(resolve))
        await new Promise((resolve) => setImmediate(resolve))
        return armed
      })
      const result = await send(provider, hold)
      if (!armed) expect(result).toEqual({ kind: 'released' })
      else expect(result).toMatchObject({ kind: 'deferred', failure: 'transient', evidence: { phase: 'data' } })
      expect(server.taken).toEqual([])
    }
  })

  test('a 421 while the arm is being committed hands nothing over', async () => {
    const server = await startServer({ extensions })
    const provider = providerFor(server)
    const hold = new TestHold(async () => {
      for (const conversation of server.open) conversation.act({ do: 'reply', text: '421 4.4.2 Timeout' })
      expect(await providerFor(server).verify()).toMatchObject({ ok: true })
      return true
    })
    expect(await send(provider, hold)).toMatchObject({
      kind: 'deferred',
      failure: 'transient',
      evidence: { phase: 'data', reply: expect.stringContaining('421') as string },
    })
    expect(server.heard).not.toContain('<body>')
  })
})

describe('an aborted signal', () => {
  test('releases before anything is begun', async () => {
    const server = await startServer()
    const provider = providerFor(server)
    const hold = new TestHold()
    hold.controller.abort()
    expect(await send(provider, hold)).toEqual({ kind: 'released' })
    expect(server.connections).toBe(0)
  })

  test.each<Point>(['greeting', 'ehlo', 'auth', 'mail', 'rcpt', 'data'])('releases at %s, at once', async (point) => {
    for (const extensions of [['PIPELINING', 'AUTH PLAIN'], ['AUTH PLAIN']]) {
      const server = await startServer({ extensions })
      const provider = providerFor(server, {
        settings: { auth: { kind: 'password', user: 'u', password: 'p' } },
      })
      const hold = new TestHold()
      server.script = (at) => {
        if (at !== point) return undefined
        setImmediate(() => hold.controller.abort())
        return { do: 'hang' }
      }
      expect(await send(provider, hold)).toEqual({ kind: 'released' })
      expect(hold.armed).toBe(0)
      server.script = () => undefined
      expect(await send(provider)).toMatchObject({ kind: 'accepted' })
      expect(server.taken).toHaveLength(1)
    }
  })

  test('while the arm is being committed, the arm decides', async () => {
    for (const armed of [true, false]) {
      const server = await startServer()
      const provider = providerFor(server)
      const hold: TestHold = new TestHold(() => {
        hold.controller.abort()
        return armed
      })
      expect(await send(provider, hold)).toMatchObject({ kind: armed ? 'accepted' : 'released' })
      expect(server.taken).toHaveLength(armed ? 1 : 0)
    }
  })

  test('means nothing once armed', async () => {
    const server = await startServer()
    const provider = providerFor(server)
    const hold = new TestHold()
    server.script = (point) => {
      if (point === 'body') hold.controller.abort()
      return undefined
    }
    expect(await send(provider, hold)).toMatchObject({ kind: 'accepted' })
    expect(server.taken).toHaveLength(1)
  })
})
