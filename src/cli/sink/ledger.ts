import { createHash } from 'node:crypto'
import { closeSync, mkdirSync, openSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'

/** What the client of a taken message was told: only `accepted` is an answer, the rest leaves it in the dark. */
export type Replied = 'accepted' | 'dropped_after_dot' | 'reset_after_dot' | 'hung_after_dot' | 'garbage_after_dot'

/** One message the sink has taken: a line of its log, as it is. */
export interface Taken {
  /** Counts from 1 in every run. */
  readonly n: number
  readonly at: string
  readonly connection: number
  readonly from: string
  readonly to: readonly string[]
  readonly message_id: string | null
  readonly subject: string | null
  /** Bytes, without the dots that were added for the wire. */
  readonly size: number
  readonly replied: Replied
  /** Of the content, without added dots; only when asked for. */
  readonly sha256?: string
}

export interface LedgerOptions {
  /** A line of JSON is appended for each taken message. */
  readonly logFile?: string | undefined
  /** Each taken message becomes a file here. */
  readonly keepDirectory?: string | undefined
  readonly hash?: boolean | undefined
  /** Whether `taken()` knows them: a long run would fill the memory. */
  readonly remember: boolean
}

export type Arrived = Pick<Taken, 'connection' | 'from' | 'to' | 'replied'> & { readonly content: Buffer }

/**
 * The judge in tests of duplicates and losses, so it keeps to one order: a message is written down before its client is
 * answered. Written, not synced: a line survives the death of the sink and of the client, and it need not survive that
 * of the machine.
 */
export interface Ledger {
  readonly count: number
  taken(): readonly Taken[]
  /** Throws when the message could not be written down; then it is not taken. */
  take(arrived: Arrived): Taken
  close(): void
}

export function openLedger({ logFile, keepDirectory, hash, remember }: LedgerOptions): Ledger {
  if (keepDirectory !== undefined) mkdirSync(keepDirectory, { recursive: true })
  // Numbers start again with every run; files of the run before must not be overwritten.
  const run = new Date().toISOString().replaceAll(/[-:]/g, '')
  const log = logFile === undefined ? null : openSync(logFile, 'a')
  const all: Taken[] = []
  let count = 0
  let torn: unknown = null

  function append(line: string): void {
    if (log === null) return
    // After half a line, whatever follows would be unreadable: better to take nothing more than to be a bad witness.
    if (torn) throw torn
    try {
      const bytes = Buffer.from(line)
      for (let at = 0; at < bytes.length;) at += writeSync(log, bytes, at)
    } catch (error) {
      torn = error
      throw error
    }
  }

  return {
    get count() {
      return count
    },
    taken: () => all,
    take({ content, connection, from, to, replied }) {
      const n = count + 1
      const taken: Taken = {
        n,
        at: new Date().toISOString(),
        connection,
        from,
        to,
        ...readHeaders(content),
        size: content.length,
        replied,
        ...(hash ? { sha256: createHash('sha256').update(content).digest('hex') } : {}),
      }
      if (keepDirectory !== undefined)
        writeFileSync(join(keepDirectory, `${run}-${String(n).padStart(6, '0')}.eml`), content, { flag: 'wx' })
      append(`${JSON.stringify(taken)}\n`)
      count = n
      if (remember) all.push(taken)
      return taken
    },
    close() {
      if (log !== null) closeSync(log)
    },
  }
}

/** Headers longer than this belong to no test of ours; looking for two of them must not cost more than that. */
const MAX_HEADER_BYTES = 64 * 1024

function readHeaders(content: Buffer): Pick<Taken, 'message_id' | 'subject'> {
  // A message that begins with an empty line has no headers, whatever its text looks like.
  if (content[0] === 13 && content[1] === 10) return { message_id: null, subject: null }
  const end = content.indexOf('\r\n\r\n')
  const head = content.toString('utf8', 0, Math.min(end === -1 ? content.length : end, MAX_HEADER_BYTES))
  return {
    message_id: unfold(/(?:^|\r\n)Message-ID:([^\r\n]*(?:\r\n[ \t][^\r\n]*)*)/i.exec(head)),
    subject: unfold(/(?:^|\r\n)Subject:([^\r\n]*(?:\r\n[ \t][^\r\n]*)*)/i.exec(head)),
  }
}

const unfold = (match: RegExpExecArray | null) => match?.[1]?.replaceAll('\r\n', '').trim() ?? null
