import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import PostalMime from 'postal-mime'
import { createPostrider } from '../create-postrider.js'
import type { Postrider, PostriderOptions } from '../postrider.js'
import { readInbox } from '../db/captured-emails.js'
import { DEFAULT_WORKSPACE, showId } from '../id.js'

/**
 * For testing code that sends mail: a Postrider whose emails stay in the dev inbox, whose work is done when the test says
 * so, and whose clock stands where the test puts it.
 *
 *   const test = await createTestPostrider()
 *   await signUp(test.mail, 'ada@example.com')
 *   await test.drain()
 *   expect(await test.inbox()).toMatchObject([{ recipient: 'ada@example.com', subject: 'Welcome' }])
 *   await test.close()
 */
export interface TestPostrider {
  readonly mail: Postrider
  readonly clock: TestClock
  /** Works until nothing is due, and says what came of it. */
  drain(): Promise<Readonly<Record<string, number>>>
  /** What was sent, oldest first. */
  inbox(): Promise<CapturedMail[]>
  close(): Promise<void>
}

/** The time all of Postrider goes by. It stands still until it is moved. */
export interface TestClock {
  now(): Promise<Date>
  set(instant: Date): Promise<void>
  advance(ms: number): Promise<void>
}

export interface CapturedMail {
  /** Of the email it belongs to, as `emails.send` answered. */
  readonly emailId: string
  readonly recipient: string
  readonly from: string
  readonly subject: string
  readonly text: string | null
  readonly html: string | null
  readonly headers: Readonly<Record<string, string>>
  readonly attachments: readonly {
    readonly filename: string | null
    readonly contentType: string
    readonly content: Buffer
  }[]
  readonly raw: string
}

const CLOCK = 'postrider.test_clock'

/** Without a `databaseUrl` on an embedded database of its own, which is gone after `close`. */
export async function createTestPostrider(options: PostriderOptions = {}): Promise<TestPostrider> {
  const directory = options.dataDirectory ?? mkdtempSync(join(tmpdir(), 'postrider-test-'))
  const remove = () => {
    if (options.dataDirectory === undefined) rmSync(directory, { recursive: true, force: true })
  }
  // The clock's table must exist before anybody asks for the time.
  const first = await createPostrider({ ...options, dataDirectory: directory })
  await first.context.db.query(`create table if not exists ${CLOCK} (instant timestamptz not null)`)
  await first.context.db.query(`insert into ${CLOCK} select now() where not exists (select 1 from ${CLOCK})`)
  await first.stop()
  const mail = await createPostrider({ ...options, dataDirectory: directory, now: `(select instant from ${CLOCK})` })
  const { db } = mail.context

  return {
    mail,
    clock: {
      async now() {
        return (await db.query<{ instant: Date }>(`select instant from ${CLOCK}`)).rows[0]!.instant
      },
      async set(instant) {
        await db.query(`update ${CLOCK} set instant = $1`, [instant])
      },
      async advance(ms) {
        await db.query(`update ${CLOCK} set instant = instant + $1 * interval '1 ms'`, [ms])
      },
    },
    drain: () => mail.tick(),
    async inbox() {
      const workspaceId = options.workspaceId ?? DEFAULT_WORKSPACE
      return Promise.all((await readInbox(db, workspaceId)).map(read))
    },
    async close() {
      await mail.stop()
      remove()
    },
  }
}

async function read({ emailId, recipient, raw }: { emailId: string; recipient: string; raw: Buffer }) {
  const parsed = await PostalMime.parse(raw)
  return {
    emailId: showId('em', emailId),
    recipient,
    from: parsed.from?.address ?? '',
    subject: parsed.subject ?? '',
    text: parsed.text ?? null,
    html: parsed.html ?? null,
    headers: Object.fromEntries(parsed.headers.map(({ key, value }) => [key, value])),
    attachments: parsed.attachments.map(({ filename, mimeType, content }) => ({
      filename: filename ?? null,
      contentType: mimeType,
      content: Buffer.from(content as ArrayBuffer),
    })),
    raw: raw.toString('utf8'),
  }
}
