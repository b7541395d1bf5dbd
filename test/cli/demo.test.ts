import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Taken } from '../../src/cli/sink/ledger.js'
import { FAILURE_CLASSES } from '../../src/domain/failure.js'
import { EMAIL_STATUSES } from '../../src/domain/email-status.js'
import { type BuiltPackage, buildPackage } from '../support/build-package.js'
import { until } from '../support/until.js'
import { runPrintedCurl } from './printed-curl.js'
import { type Cli, type CliProcess, openCli } from './run-cli.js'

// It makes a whole database, and then people have to have clicked; beside other tests on a small machine that is minutes.
const SLOWLY = { withinMs: 240_000, everyMs: 500 }
vi.setConfig({ testTimeout: 300_000, hookTimeout: 400_000 })

let built: BuiltPackage
let cli: Cli
/** Short, or the database's socket would be made elsewhere. */
let temporary: string
beforeAll(async () => {
  built = await buildPackage()
})
afterAll(() => built.remove())
const openHere = () => {
  cli = openCli(built, { lasting: true, asShipped: true })
  temporary = mkdtempSync(join(tmpdir(), 'demo-'))
}
const closeHere = async () => {
  await cli.close()
  rmSync(temporary, { recursive: true, force: true })
}

/** Notes everything that is connected to, or whose name is looked up, by the process it is loaded into. */
const WATCH_CONNECTIONS = `
import dns from 'node:dns'
import { appendFileSync } from 'node:fs'
import net from 'node:net'
const note = (place) => appendFileSync(process.env.CONNECTIONS, JSON.stringify(place) + '\\n')
const { connect } = net.Socket.prototype
net.Socket.prototype.connect = function (...args) {
  const [to, host] = Array.isArray(args[0]) ? args[0] : args
  if (typeof to === 'object') note(to.path ?? to.host ?? 'localhost')
  else note(typeof to === 'string' ? to : (host ?? 'localhost'))
  return connect.apply(this, args)
}
const { lookup } = dns
dns.lookup = (name, ...rest) => (note(name), lookup(name, ...rest))
`

interface Listed<T> {
  readonly has_more: boolean
  readonly data: readonly T[]
}
interface Email {
  readonly id: string
  readonly status: string
  readonly subject: string
  readonly from: string
  readonly attempts: readonly { readonly failure: string | null; readonly remote_host: string | null }[]
  readonly events: readonly { readonly type: string }[]
  readonly explain: string
}
interface Campaign {
  readonly id: string
  readonly name: string
  readonly status: string
}
interface Walk {
  readonly state: string
  readonly reason_code: string | null
  readonly position: { readonly node: string | null; readonly arrived: boolean }
}

describe('postrider demo, started in the environment of a real installation', () => {
  let demo: CliProcess
  let connections: string
  let data: string

  beforeAll(async () => {
    openHere()
    connections = join(cli.directory, 'connections')
    data = join(cli.directory, 'real-data')
    writeFileSync(join(cli.directory, 'watch.mjs'), WATCH_CONNECTIONS)
    writeFileSync(join(cli.directory, '.env'), 'SMTP_URL=smtp://user:password@mail.invalid\n')
    // What a demo left that was killed.
    mkdirSync(join(temporary, 'postrider-demo-killed'))
    writeFileSync(join(temporary, 'postrider-demo-killed', 'lock'), '{"pid":1,"socket":null}')
    demo = cli.start(['demo', '--port', '0'], {
      TMPDIR: temporary,
      DATABASE_URL: 'postgres://user:password@db.invalid/real',
      BROKER_URL: 'redis://broker.invalid',
      POSTRIDER_DATA: data,
      CONNECTIONS: connections,
      NODE_OPTIONS: `--import ${join(cli.directory, 'watch.mjs')}`,
    })
    await until('it is ready', () => demo.stdout().includes('\nReady.'), SLOWLY)
  })
  afterAll(closeHere)

  /** What it says under a name. */
  const said = (name: string) => new RegExp(`^ {2}${name} +(.*)$`, 'm').exec(demo.stdout())![1]!
  const ask = async <T>(path: string, init: RequestInit = {}): Promise<T> => {
    const headers = { Authorization: `Bearer ${said('API key')}`, 'Content-Type': 'application/json' }
    const answer = await fetch(`${said('API')}${path}`, { headers, ...init })
    const body = (await answer.json()) as T
    if (answer.status >= 500) throw new Error(`${path}: ${JSON.stringify(body)}`)
    return body
  }
  const all = async <T extends { readonly id: string }>(path: string): Promise<T[]> => {
    const found: T[] = []
    for (let more = true; more;) {
      const after = found.length > 0 ? `&after=${found.at(-1)!.id}` : ''
      const page = await ask<Listed<T>>(`${path}${path.includes('?') ? '&' : '?'}limit=100${after}`)
      found.push(...page.data)
      more = page.has_more
    }
    return found
  }
  const inTime = <T>(what: string, look: () => Promise<T | null | undefined | false>) => until(what, look, SLOWLY)

  it('says in one line what it does not use, and where, with what and how fast everything is', () => {
    expect(demo.stderr().split('\n')[0]).toBe(
      'Not used by the demo: DATABASE_URL, POSTRIDER_DATA, BROKER_URL, SMTP_URL.',
    )
    expect(demo.stdout()).toMatch(/^ {2}dashboard {2}http:\/\/127\.0\.0\.1:\d+\/admin$/m)
    expect(said('sped up')).toBe('only the sequence “First gardens”: where it would wait a day, it waits a minute')
  })

  it('lets its admin in with the password it printed', async () => {
    const password = /with the password (\S+)/.exec(said('log in'))![1]
    const init = {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-Postrider-Dashboard': '1' },
      body: JSON.stringify({ password }),
    }
    expect(await ask('/admin/login', init)).toMatchObject({ object: 'session', name: 'admin' })
  })

  it('has 300 people in several timezones on three lists', async () => {
    const contacts = await all<{ id: string; timezone: string | null; attributes: object }>('/contacts')
    expect(contacts.length).toBeGreaterThanOrEqual(300)
    expect(new Set(contacts.map(({ timezone }) => timezone)).size).toBeGreaterThan(5)
    expect(contacts.every(({ attributes }) => Object.keys(attributes).length > 3)).toBe(true)
    const lists = await all<{ id: string; name: string; members: number }>('/lists')
    expect(lists.map(({ name }) => name).toSorted()).toEqual(['First gardens', 'The Seed Letter', 'Workshop guests'])
  })

  it('has an email in every status but the one that lasts a moment', async () => {
    for (const status of EMAIL_STATUSES.filter((each) => each !== 'sending'))
      await inTime(status, async () => (await ask<Listed<Email>>(`/emails?status=${status}`)).data[0])
  })

  it('has one failure of every class, each said in words', async () => {
    const seen = new Map<string, Email>()
    await inTime('all classes', async () => {
      for (const status of ['failed', 'retry_scheduled', 'uncertain'])
        for (const { id } of await all<Email>(`/emails?status=${status}`)) {
          const email = await ask<Email>(`/emails/${id}`)
          for (const { failure } of email.attempts) if (failure !== null) seen.set(failure, email)
        }
      return seen.size === FAILURE_CLASSES.length
    })
    expect([...seen.keys()].toSorted()).toEqual(FAILURE_CLASSES.toSorted())
    expect(seen.get('undecidable')!.explain).toMatch(/^Nobody can know whether it went out/)
  })

  it('has a sender that is paused, and why, and whose mail waits', async () => {
    const billing = await inTime('billing is paused', async () =>
      (await ask<Listed<{ address: string; paused_code: string | null; paused_reason: string }>>('/senders')).data.find(
        ({ paused_code }) => paused_code === 'authentication_failed',
      ),
    )
    expect(billing).toMatchObject({
      address: 'billing@quince.example',
      paused_reason: expect.stringContaining('5.7.8'),
    })
    await inTime('an invoice waits', async () =>
      (await all<Email>('/emails?q=Invoice&status=scheduled')).find(({ from }) => from.includes('billing@')),
    )
  })

  it('has a campaign under way that can be seen moving, one done, one paused, one later and one draft', async () => {
    const campaigns = () => all<Campaign>('/campaigns')
    await inTime('one of each', async () => {
      const statuses = new Set((await campaigns()).map(({ status }) => status))
      return ['running', 'sent', 'paused', 'scheduled', 'draft'].every((status) => statuses.has(status))
    })
    const letter = (await campaigns()).find(({ name }) => name.startsWith('The Seed Letter'))!
    const sent = async () => (await ask<{ counts: { sent: number } }>(`/campaigns/${letter.id}/schedule`)).counts.sent
    const before = await sent()
    await inTime('it moved', async () => (await sent()) > before)
    expect((await campaigns()).find(({ id }) => id === letter.id)!.status).toBe('running')
  })

  it('has people at different places of its sequence', async () => {
    const places = {
      'waits for a click': ({ position, state }: Walk) =>
        state === 'active' && position.node === 'reads-it' && position.arrived,
      'moved on by a click': ({ position, state }: Walk) => state === 'active' && position.node === 'has-room',
      'has emails of the next days': ({ position, state }: Walk) => state === 'active' && position.node === null,
      'stopped by a reply': ({ reason_code }: Walk) => reason_code === 'replied',
      'stopped by unsubscribing': ({ reason_code }: Walk) => reason_code === 'unsubscribed',
      finished: ({ state }: Walk) => state === 'completed',
      paused: ({ state }: Walk) => state === 'paused',
    }
    for (const [place, isThere] of Object.entries(places))
      await inTime(place, async () => (await all<Walk & { id: string }>('/enrollments')).some(isThere))
  })

  it('has an import with wrong rows, suppressions of several kinds, and somebody who left a list', async () => {
    const [file] = (await ask<Listed<{ refused: number; problems: object[] }>>('/imports')).data
    expect(file).toMatchObject({ refused: 3, problems: { length: 4 } })
    await inTime('suppressions', async () => {
      const { data } = await ask<Listed<{ reason: string }>>('/suppressions')
      return new Set(data.map(({ reason }) => reason)).size === 4
    })
    await inTime('a guest has left', async () =>
      (await ask<Listed<{ name: string; members: number; subscribed: number }>>('/lists')).data.some(
        ({ name, members, subscribed }) => name === 'Workshop guests' && subscribed === members - 1,
      ),
    )
  })

  it('has captured mail with html, an inline image, an attachment and an invitation', async () => {
    const { id } = await inTime('it is captured', async () =>
      (await all<Email>('/inbox')).find(({ subject }) => subject === 'Your place in the seed workshop'),
    )
    const captured = await ask<{ html: string; attachments: { content_type: string; disposition: string }[] }>(
      `/inbox/${id}`,
    )
    expect(captured.html).toContain('long table')
    expect(captured.attachments).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ content_type: 'image/png', disposition: 'inline' }),
        expect.objectContaining({ content_type: 'text/csv', disposition: 'attachment' }),
        expect.objectContaining({ content_type: 'text/calendar' }),
      ]),
    )
  })

  it('keeps living: mail trickles in, and something is heard of it', async () => {
    const newest = async () => (await ask<Listed<Email>>('/emails?limit=1')).data[0]!.id
    const before = await newest()
    await inTime('another email', async () => (await newest()) !== before)
    await inTime('an event', async () => {
      const { data: sent } = await ask<Listed<Email>>('/emails?status=sent&limit=50')
      const whole = await Promise.all(sent.map(({ id }) => ask<Email>(`/emails/${id}`)))
      return whole.some(({ events }) => events.some(({ type }) => type === 'opened'))
    })
  })

  it('does what the lines it prints ask for', async () => {
    const sent = await runPrintedCurl(demo.stdout(), `/api/emails'`)
    expect(sent).toMatchObject({ status: 202, body: { status: 'sent' } })
    const { body } = await runPrintedCurl(demo.stdout(), `/api/inbox?limit=1'`)
    expect(body).toMatchObject({ data: [{ object: 'captured_email' }] })
    const [mend, resume] = demo
      .stdout()
      .match(/^ {2}curl .*senders.*$/gm)!
      .map((line) => line.split("'")[1]!)
    expect((await runPrintedCurl(demo.stdout(), `${new URL(mend!).pathname}'`)).status).toBe(200)
    const resumed = await runPrintedCurl(demo.stdout(), `${new URL(resume!).pathname}'`)
    expect(resumed).toMatchObject({ status: 200, body: { paused_at: null } })
    await inTime('the invoices went out', async () =>
      (await all<Email>('/emails?q=Invoice&status=sent')).find(({ from }) => from.includes('billing@')),
    )
    const doubt = await runPrintedCurl(demo.stdout(), `/api/emails?status=uncertain'`)
    const [{ id }] = (doubt.body as Listed<Email>).data as [Email]
    await ask(`/emails/${id}/resolve`, { method: 'POST', body: JSON.stringify({ outcome: 'resend' }) })
    await inTime('it was sent again', async () => (await ask<Email>(`/emails/${id}`)).status === 'sent')
  })

  it('refuses a sender with any other mail server', async () => {
    const make = (smtp_url: string) =>
      ask('/senders', { method: 'POST', body: JSON.stringify({ address: 'real@shop.example', smtp_url }) })
    for (const url of ['smtp://mail.example.com', 'smtps://127.0.0.1', 'smtp://localhost:2525'])
      expect(await make(url)).toMatchObject({
        status: 422,
        code: 'sender_invalid',
        errors: [{ pointer: '/smtp_url', detail: expect.stringMatching(/^No mail server may be used here but 127/) }],
      })
  })

  it('has handed mail to its own server only, for people who do not exist', async () => {
    const directory = said('data').replace(/, removed.*/, '')
    const taken = readFileSync(join(directory, 'sink.log'), 'utf8').trim().split('\n')
    const recipients = taken.flatMap((line) => (JSON.parse(line) as Taken).to)
    expect(recipients.length).toBeGreaterThan(50)
    expect(recipients.filter((address) => !address.endsWith('.example'))).toEqual([])
    const server = /of its own, (\S+),/.exec(said('mail'))![1]
    for (const { id } of (await ask<Listed<Email>>('/emails?status=sent&limit=20')).data)
      for (const { remote_host } of (await ask<Email>(`/emails/${id}`)).attempts)
        expect([server, null, 'inbox']).toContain(remote_host)
  })

  it('stops when asked, leaves nothing behind, and has connected to nothing but this machine', async () => {
    demo.signal('SIGINT')
    expect(await demo.exited).toBe(0)
    expect(demo.stderr()).not.toMatch(/did not happen|not expected/)
    expect(readdirSync(temporary)).toEqual([])
    expect(existsSync(data)).toBe(false)
    expect(readdirSync(cli.directory).toSorted()).toEqual(['.env', 'connections', 'watch.mjs'])
    const places = new Set(
      readFileSync(connections, 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as string),
    )
    expect([...places].filter((place) => place !== '127.0.0.1' && !place.startsWith(temporary))).toEqual([])
    expect(places).toContain('127.0.0.1')
  })
})

describe('a demo that is not ended as it should be', () => {
  beforeAll(openHere)
  afterAll(closeHere)

  it('is cleaned up by the next, killed or interrupted while it starts', async () => {
    const start = () => cli.start(['demo', '--port', '0'], { TMPDIR: temporary })
    const homes = () => readdirSync(temporary).filter((name) => name.startsWith('postrider-demo-'))
    const ownedHome = () => homes().find((name) => existsSync(join(temporary, name, 'lock')))

    const killed = start()
    const left = await until('it owns a database', ownedHome, SLOWLY)
    killed.signal('SIGKILL')
    await killed.exited
    expect(homes()).toEqual([left])

    const next = start()
    await until('it has cleaned up and has a home', () => !homes().includes(left) && homes().length === 1, SLOWLY)
    next.signal('SIGINT')
    expect(await next.exited).toBe(1)
    expect(homes()).toEqual([])
  })
})
