/** One answer of a server: its code, and its lines as they came, codes included, one character per byte. */
export interface Reply {
  readonly code: number
  readonly raw: string
}

/** Far more than any server says; less than what would hurt if every connection sent it at once. */
export const MAX_REPLY_BYTES = 16 * 1024

const LF = 0x0a
const CR = 0x0d
const DASH = 0x2d
const SPACE = 0x20

/**
 * Cuts a server's bytes into replies. Strict, because a reply misread after the dot is a duplicate or a loss: three
 * digits, a dash or a space, and the same code on every line. Anything else breaks the conversation.
 */
export class ReplyReader {
  #buffered = ''
  #broken: string | null = null

  /** What was wrong with the server's bytes. After that nothing is read any more. */
  get broken(): string | null {
    return this.#broken
  }

  /** False while a part of a further reply has been read. */
  get isEmpty(): boolean {
    return this.#buffered === ''
  }

  push(chunk: Buffer): void {
    if (this.#broken === null) this.#buffered += chunk.toString('latin1')
  }

  /** The next whole reply, or null when there is none yet. */
  next(): Reply | null {
    const text = this.#buffered
    let from = 0
    let code = 0
    for (;;) {
      const lineEnd = text.indexOf('\n', from)
      if (lineEnd === -1) {
        if (text.length > MAX_REPLY_BYTES) this.#break('the server sent a reply without an end')
        return null
      }
      const lineCode = codeAt(text, from)
      const after = text.charCodeAt(from + 3)
      const isLast = after === SPACE || after === CR || after === LF
      if (lineCode === 0 || (code !== 0 && lineCode !== code) || (!isLast && after !== DASH)) {
        this.#break('the server sent something that is not an SMTP reply')
        return null
      }
      code = lineCode
      if (isLast) {
        this.#buffered = text.slice(lineEnd + 1)
        return { code, raw: text.slice(0, lineEnd) }
      }
      from = lineEnd + 1
      if (from > MAX_REPLY_BYTES) {
        this.#break('the server sent a reply without an end')
        return null
      }
    }
  }

  #break(what: string): void {
    this.#broken = what
    this.#buffered = ''
  }
}

/** Three digits from 200 to 599, or 0. */
function codeAt(text: string, at: number): number {
  const first = text.charCodeAt(at) - 48
  const second = text.charCodeAt(at + 1) - 48
  const third = text.charCodeAt(at + 2) - 48
  if (!(first >= 2 && first <= 5 && second >= 0 && second <= 9 && third >= 0 && third <= 9)) return 0
  return first * 100 + second * 10 + third
}

/** A whole reply given as text, as nodemailer reports it; null when it is not one. */
export function parseReply(text: string): Reply | null {
  const reader = new ReplyReader()
  reader.push(Buffer.from(`${text.trimEnd()}\r\n`, 'utf8'))
  return reader.next()
}

/** RFC 3463's code at the start of a reply's words, such as 5.1.1. */
export function enhancedCodeOf(reply: Reply): string | null {
  return /^\d{3}[ -]\s*([245]\.\d{1,3}\.\d{1,3})(?![\d.])/.exec(reply.raw)?.[1] ?? null
}

/** The words of a reply in one line, without the codes that each line repeats. */
export function wordsOf(reply: Reply): string {
  const words = reply.raw
    .split(/\r?\n/)
    .map((line, index) => (index === 0 ? line.slice(4) : line.slice(4).replace(/^\s*[245]\.\d{1,3}\.\d{1,3}\s+/, '')))
    .join(' ')
  const bytes = Buffer.from(words, 'latin1')
  const utf8 = bytes.toString('utf8')
  // No charset is defined for replies. Bytes that are not UTF-8 stay what they were.
  return utf8.includes('\uFFFD') ? words : utf8
}
