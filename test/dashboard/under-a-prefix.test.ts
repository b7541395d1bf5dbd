import { Hono } from 'hono'
import { once } from 'node:events'
import { createServer, request, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { serve, type Serving } from '../../src/http/serve.js'
import { ADMIN_PASSWORD, type Dashboard, openDashboard } from './browser.js'

const PREFIX = '/mail'

/** Proxies differ in whether they tell the server behind them the host the browser asked for, or the one they ask. */
type Host = 'the host of the browser' | 'a host of its own'

/** In front of the dashboard, which is there under the prefix and nowhere else. Everything is passed on as it comes. */
class Proxy {
  readonly #server: Server
  /** Where the dashboard is today, and what it is told. */
  behind: { readonly url: string; readonly host: Host } | null = null

  private constructor(server: Server) {
    this.#server = server.on('request', this.#answer)
  }

  static async start(): Promise<Proxy> {
    const server = createServer()
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return new Proxy(server)
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close')
    this.#server.close()
    this.#server.closeAllConnections()
    await closed
  }

  readonly #answer: RequestListener = (incoming, outgoing) => {
    const { method, headers, url: target = '/' } = incoming
    if (!this.behind || !target.startsWith(`${PREFIX}/`)) {
      outgoing.writeHead(404).end()
      return
    }
    const { hostname, port, host } = new URL(this.behind.url)
    const passed = request({
      hostname,
      port,
      path: target.slice(PREFIX.length),
      method,
      headers: this.behind.host === 'a host of its own' ? { ...headers, host } : headers,
    })
    passed.on('response', (answer) => {
      outgoing.writeHead(answer.statusCode!, answer.headers)
      // A stream may say nothing for a while, and the page waits to hear that it is open.
      outgoing.flushHeaders()
      answer.pipe(outgoing)
    })
    passed.on('error', () => outgoing.destroy())
    // Who leaves the page ends its stream, and the server has to hear of it.
    outgoing.on('close', () => passed.destroy())
    incoming.pipe(passed)
  }
}

// Before all tests: its address is a setting of one of the servers behind it.
const proxy = await Proxy.start()
afterAll(() => proxy.close())

const putBehind = (dashboard: Dashboard, host: Host) => {
  beforeEach(() => {
    proxy.behind = { url: dashboard.url, host }
  })
}

const logIn = async (page: Page) => {
  await page.getByLabel('Password').fill(ADMIN_PASSWORD)
  await page.getByRole('button', { name: 'Log in' }).click()
}
const title = (page: Page, name: string) => page.getByRole('heading', { level: 1, name })
const row = (page: Page, subject: string) => page.getByRole('row').filter({ hasText: subject })

/** Looks around at an origin, does something there, and never leaves the prefix. */
async function lookAround(dashboard: Dashboard, origin: string): Promise<void> {
  const send = async (subject: string, extra: object = {}) => {
    const json = { to: 'ada@example.com', subject, text: 'Hello.', ...extra }
    return (await dashboard.call('POST /api/emails', { json })).body.id as string
  }
  const id = await send('Put off', { scheduled_at: '2040-01-01T00:00:00Z' })
  const page = await dashboard.visit()
  const asked: string[] = []
  page.on('request', (made) => asked.push(made.url().split('?')[0]!))

  // What has no page of its own leads to the dashboard.
  await page.goto(`${origin}${PREFIX}/`)
  await page.getByLabel('Password').waitFor()
  expect(await page.title()).toBe('Log in · Postrider')
  // As people type it, without a slash at its end.
  await page.goto(`${origin}${PREFIX}/admin`)
  await logIn(page)
  await title(page, 'Overview').waitFor()
  expect(page.url()).toBe(`${origin}${PREFIX}/admin/`)

  await page.getByRole('link', { name: 'Email queue' }).click()
  await title(page, 'Email queue').waitFor()
  expect(await page.title()).toBe('Email queue · Postrider')
  expect(page.url()).toBe(`${origin}${PREFIX}/admin/email-queue`)
  await page
    .getByRole('status')
    .filter({ hasText: /^live$/ })
    .waitFor()
  await row(page, 'Put off').waitFor()
  await send('Good news')
  await row(page, 'Good news').waitFor()

  await row(page, 'Put off').getByRole('link').click()
  await title(page, 'Put off').waitFor()
  expect(page.url()).toBe(`${origin}${PREFIX}/admin/emails/${id}`)
  await page.reload()
  await title(page, 'Put off').waitFor()
  await page.getByRole('button', { name: 'Cancel', exact: true }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel this email' }).click()
  await page.getByText('canceled', { exact: true }).first().waitFor()
  expect((await dashboard.call(`GET /api/emails/${id}`)).body.status).toBe('canceled')

  expect(asked).toContain(`${origin}${PREFIX}/api/events/stream`)
  expect(asked.filter((url) => !url.startsWith(`${origin}${PREFIX}/`))).toEqual([])
}

describe('the dashboard under a prefix that a proxy takes away', () => {
  const dashboard = openDashboard()
  putBehind(dashboard, 'the host of the browser')

  it('is all there, live, and asks for nothing outside of it', () => lookAround(dashboard, proxy.origin))
})

describe('the dashboard under a prefix of another server', () => {
  const dashboard = openDashboard()
  let other: Serving
  beforeEach(async () => {
    const app = new Hono().mount(PREFIX, (asked, env) => dashboard.mail.fetch(asked, env))
    other = await serve(app, { host: '127.0.0.1', port: 0 })
  })
  afterEach(() => other.close())

  it('is all there, live, and asks for nothing outside of it', () => lookAround(dashboard, other.url))
})

describe('behind a proxy that does not pass on the host', () => {
  const dashboard = openDashboard()
  putBehind(dashboard, 'a host of its own')

  it('nobody gets in, and is told what to set', async () => {
    const page = await dashboard.visit()
    await page.goto(`${proxy.origin}${PREFIX}/admin/`)
    await logIn(page)
    await page.getByText(`This came from ${proxy.origin}`).waitFor()
    await page.getByText('set PUBLIC_URL to it').waitFor()
    expect(await page.context().cookies()).toEqual([])
  })
})

describe('behind a proxy that does not pass on the host, with PUBLIC_URL', () => {
  const dashboard = openDashboard({ publicUrl: `${proxy.origin}${PREFIX}` })
  putBehind(dashboard, 'a host of its own')

  it('everything works', () => lookAround(dashboard, proxy.origin))
})
