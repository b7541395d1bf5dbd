import { domainToASCII } from 'node:url'
import { isTextHeader } from '../domain/headers.js'
import type { Mailbox, Message } from '../domain/message.js'
import { toEncodedWords } from './encoded-words.js'

/** RFC 5322 asks for lines of at most 78 characters where possible; two less leave room for a relay's additions. */
const FOLD_AT = 76
/** A word this long fits no line once a name stands before it, so it is cut up as encoded-words instead. */
const MAX_WORD = 900

const CONTROL = /[\p{Cc}\u2028\u2029]+/gu
const PRINTABLE = /^[\x20-\x7e]*$/
/** Can be written without angle brackets or a closer look. */
const PLAIN_ADDRESS = /^[\w.!#$%&'*+\-/=?^`{|}~]+@[\w.-]+$/
const PLAIN_NAME = /^\w+(?: \w+)*$/

/**
 * Every header of the email but those that describe its body, each line ended by CRLF. Bcc is not among them. Whatever
 * the message holds, nothing in it can end a line: messages are checked when they are accepted, and control
 * characters are still replaced here, because a hole above this line would otherwise be a header injection.
 */
export function writeHeaders(message: Message): string {
  let block = writeMailboxes('From', [message.from])
  if (message.to.length > 0) block += writeMailboxes('To', message.to)
  if (message.cc.length > 0) block += writeMailboxes('Cc', message.cc)
  if (message.replyTo.length > 0) block += writeMailboxes('Reply-To', message.replyTo)
  block += writeText('Subject', message.subject)
  block += `Date: ${message.date.toUTCString().replace('GMT', '+0000')}\r\n`
  block += `Message-ID: ${message.messageId.replaceAll(/[^\x21-\x7e]+/g, '')}\r\n`
  for (const name of Object.keys(message.headers)) {
    if (!/^[A-Za-z0-9][\w-]*$/.test(name)) throw new TypeError(`not a header name: ${JSON.stringify(name)}`)
    const value = message.headers[name]!
    block += isTextHeader(name) ? writeText(name, value) : writeFolded(name, clean(value).split(' '))
  }
  return block
}

function writeText(name: string, text: string): string {
  const value = clean(text)
  if (value === '') return ''
  const length = name.length + 2 + value.length
  // A reader would decode text that looks like an encoded-word.
  if (PRINTABLE.test(value) && !value.includes('=?')) {
    if (length <= FOLD_AT) return `${name}: ${value}\r\n`
    // Folding inside a run of spaces could leave a line of nothing but spaces, which ends the headers for some readers.
    if (!value.includes('  ') && !hasLongWord(value)) return writeFolded(name, value.split(' '))
  }
  return writeFolded(name, toEncodedWords(value, FOLD_AT - name.length - 2))
}

function writeMailboxes(header: string, mailboxes: readonly Mailbox[]): string {
  if (mailboxes.length === 1) {
    const { name, address } = mailboxes[0]!
    if (PLAIN_ADDRESS.test(address) && header.length + address.length + (name?.length ?? 0) < FOLD_AT - 5) {
      if (name === null) return `${header}: ${address}\r\n`
      if (PLAIN_NAME.test(name)) return `${header}: ${name} <${address}>\r\n`
    }
  }
  const pieces: string[] = []
  for (const [index, mailbox] of mailboxes.entries()) {
    const comma = index < mailboxes.length - 1 ? ',' : ''
    const address = toWireAddress(mailbox.address)
    const name = clean(mailbox.name ?? '')
    if (name !== '') pieces.push(...toPhrase(name, FOLD_AT - header.length - 2))
    pieces.push(name === '' && PLAIN_ADDRESS.test(address) ? `${address}${comma}` : `<${address}>${comma}`)
  }
  return writeFolded(header, pieces)
}

function toPhrase(name: string, room: number): string[] {
  if (!PRINTABLE.test(name) || name.includes('=?') || name.includes('  ') || hasLongWord(name))
    return toEncodedWords(name, room)
  const phrase = PLAIN_NAME.test(name) ? name : `"${name.replaceAll(/["\\]/g, String.raw`\$&`)}"`
  return phrase.split(' ')
}

/** As the address goes into a header: its domain in ASCII, nothing in it that ends it early. */
function toWireAddress(address: string): string {
  if (PLAIN_ADDRESS.test(address)) return address
  const safe = clean(address).replaceAll(/[<>]/g, '')
  const at = safe.lastIndexOf('@')
  const domain = safe.slice(at + 1)
  // The characters a URL parser acts upon: it would take `evil.example/x` for a host called evil.example.
  if (PRINTABLE.test(domain) || /[/\\?#%\s]/.test(domain)) return safe
  return `${safe.slice(0, at)}@${domainToASCII(domain) || domain}`
}

/** Puts as many pieces on each line as fit. A piece is never broken; a line holds at least one. */
function writeFolded(name: string, pieces: readonly string[]): string {
  let block = ''
  let line = `${name}:`
  for (const piece of pieces) {
    // The first piece stays beside its name if at all possible: some readers take an empty first line for no value.
    const first = block === '' && line.length === name.length + 1
    if (line.length + 1 + piece.length > (first ? 998 : FOLD_AT)) {
      block += `${line}\r\n`
      line = ''
    }
    line += ` ${piece}`
  }
  return `${block}${line}\r\n`
}

function hasLongWord(text: string): boolean {
  return text.length > MAX_WORD && text.split(' ').some((word) => word.length > MAX_WORD)
}

function clean(text: string): string {
  return text.replaceAll(CONTROL, ' ').trim()
}
