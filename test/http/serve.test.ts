import { connect } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { type Serving, serve } from '../../src/http/serve.js'
import { API_KEY, openApi } from './api-fixture.js'

const HOST = '127.0.0.1'

describe('serving', () => {
  let open: Serving[] = []
  const start = async (...[app, { port = 0 } = {}]: [Parameters<typeof serve>[0], { port?: number }?]) => {
    const serving = await serve(app, { host: HOST, port })
    open.push(serving)
    return serving
  }
  afterEach(async () => {
    for (const serving of open) await serving.close()
    open = []
  })

  it('finishes the requests that are under way, takes no others, and ends', async () => {
    let answer: (response: Response) => void
    let asked = 0
    const serving = await start({
      fetch: () => {
        asked++
        return new Promise<Response>((resolve) => (answer = resolve))
      },
    })
    const idle = connect(Number(new URL(serving.url).port), HOST)
    await new Promise((resolve) => idle.once('connect', resolve))
    const ended = new Promise((resolve) => idle.once('close', resolve))
    const under = fetch(serving.url)
    await expect.poll(() => asked).toBe(1)
    const closed = serving.close()
    await ended
    await expect(fetch(serving.url)).rejects.toThrow()
    answer!(new Response('done'))
    expect(await (await under).text()).toBe('done')
    await closed
    expect(serving.close()).toBe(serving.close())
  })

  it('says in one sentence that a port is taken, or an address not to be had', async () => {
    const app = { fetch: () => new Response() }
    const { url } = await start(app)
    const port = Number(new URL(url).port)
    await expect(start(app, { port })).rejects.toMatchObject({
      name: 'PostriderError',
      message: `Port ${port} on 127.0.0.1 is in use by another process: stop it, or set PORT to another one.`,
    })
    await expect(serve(app, { host: '192.0.2.1', port: 0 })).rejects.toThrow(
      /^This machine has no address 192\.0\.2\.1/,
    )
  })

  it('answers those who name no host, and says what it cannot read', async () => {
    const { url } = await start({ fetch: (request) => new Response(new URL(request.url).pathname) })
    const say = (text: string) =>
      new Promise<string>((resolve) => {
        const socket = connect(Number(new URL(url).port), HOST)
        let heard = ''
        socket.on('data', (data) => (heard += String(data)))
        socket.on('close', () => resolve(heard))
        socket.end(text)
      })
    expect(await say('GET /livez HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1.1 200 OK[^]*\/livez$/)
    const unreadable = await say('GET / HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n\r\n')
    expect(unreadable).toMatch(
      /^HTTP\/1.1 400 [^]*content-type: application\/problem\+json[^]*"code":"request_malformed"/i,
    )
  })

  describe('the API', () => {
    const api = openApi('PostgreSQL')

    it('answers over a socket, also large bodies and those whose length nobody announced', async () => {
      const { url } = await start({ fetch: (request) => api.mail.fetch(request) })
      const send = (body: string | ReadableStream<Uint8Array>, headers = {}) =>
        fetch(`${url}/api/emails`, {
          method: 'POST',
          headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json', ...headers },
          body,
          duplex: 'half',
        })
      const html = 'x'.repeat(4_000_000)
      const letter = JSON.stringify({ to: 'ada@example.com', subject: 's', html })
      expect((await send(letter)).status).toBe(202)
      expect((await send(streamOf([letter.slice(0, 1_000), letter.slice(1_000)]))).status).toBe(202)
      const endless = streamOf(Array.from({ length: 40 }, () => 'x'.repeat(1_000_000)))
      const refused = await send(endless).then(
        ({ status }) => status,
        // Told to stop in the middle of its body, a client may see the connection end instead of the answer.
        () => 413,
      )
      expect(refused).toBe(413)
      const head = await fetch(`${url}/livez`, { method: 'HEAD' })
      expect([head.status, await head.text()]).toEqual([200, ''])
    })
  })
})

const streamOf = (chunks: readonly string[]) => {
  const left = [...chunks]
  return new ReadableStream<Uint8Array>({
    pull(controller) {
      const chunk = left.shift()
      if (chunk === undefined) controller.close()
      else controller.enqueue(Buffer.from(chunk))
    },
  })
}
