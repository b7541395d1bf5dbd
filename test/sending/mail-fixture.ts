import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'
import type { Email } from '../../src/db/emails.js'
import { createPostrider, type Postrider, type PostriderOptions } from '../../src/index.js'
import { type Act, type Point, type ScriptedSmtp, startScriptedSmtp } from '../support/scripted-smtp.js'
import { type DatabaseKind, NOW, openTestDatabase, type TestDatabase } from '../support/test-database.js'
import { silent } from '../support/kernel.js'

/** A Postrider that sends to a scripted server, on an empty database whose clock a test can move. */
export interface MailFixture {
  readonly mail: Postrider
  readonly server: ScriptedSmtp
  readonly database: TestDatabase
  shiftClock(ms: number): Promise<void>
  /** Works until nothing is due. */
  drain(): Promise<void>
  /** Another process, as far as the database can tell. Stopped after the test. */
  another(options?: PostriderOptions): Promise<Postrider>
  /** Answers this at this point, always or the first times; everything else as usual. */
  answer(point: Point, act: Act | string, times?: number): void
  get(id: string): Promise<Email>
  /** The one delivery of an email. */
  delivery(id: string): Promise<Email['deliveries'][number]>
}

/** Short only after the dot, where tests let a server hang. */
export const SHORT_TIMEOUTS = { replyMs: 2_000 }

export function openMail(kind: DatabaseKind, options: PostriderOptions = {}): MailFixture {
  let database: TestDatabase | undefined
  let server: ScriptedSmtp
  let mail: Postrider
  let others: Postrider[] = []
  const create = (extra: PostriderOptions = {}) =>
    createPostrider({
      ...database!.location,
      attach: true,
      secret: 'a secret of the tests',
      log: silent,
      now: NOW,
      smtpUrl: `smtp://127.0.0.1:${server.port}`,
      smtpTimeouts: SHORT_TIMEOUTS,
      mailFrom: { name: 'Tests', address: 'tests@sender.test' },
      ...options,
      ...extra,
    })
  beforeAll(async () => {
    database = await openTestDatabase(kind)
  })
  beforeEach(async () => {
    await database!.clear()
    server = await startScriptedSmtp()
    mail = await create()
  })
  afterEach(async () => {
    for (const postrider of [mail, ...others]) await postrider.stop()
    others = []
    await server.close()
  })
  afterAll(() => database?.close())

  const fixture: MailFixture = {
    get mail() {
      return mail
    },
    get server() {
      return server
    },
    get database() {
      return database!
    },
    shiftClock: (ms) => database!.shiftClock(ms),
    async drain() {
      await mail.tick(20_000)
    },
    async another(extra) {
      const made = await create(extra)
      others.push(made)
      return made
    },
    answer(point, act, times = Number.POSITIVE_INFINITY) {
      let left = times
      const what: Act = typeof act === 'string' ? { do: 'reply', text: act } : act
      server.script = (at) => (at === point && left-- > 0 ? what : undefined)
    },
    async get(id) {
      return (await mail.emails.get(id))!
    },
    async delivery(id) {
      return (await fixture.get(id)).deliveries[0]!
    },
  }
  return fixture
}

export const letter = (to = 'ada@example.com') => ({ to, subject: 'Hello', text: 'Hello.' })

export const SECOND = 1_000
