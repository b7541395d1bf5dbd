import { domainToAscii } from './idn.js'
import type { Mailbox } from './message.js'

/** RFC 5321 4.5.3.1. */
const MAX_LOCAL_OCTETS = 64
const MAX_ADDRESS_OCTETS = 254
/** Generous for a name and an address; bounds the work spent on what cannot be one. */
const MAX_TEXT_LENGTH = 4_000

/** Nothing that any reader takes for the end of a line, or acts upon instead of showing it, is part of a mailbox. */
const CONTROL = /[\p{Cc}\u2028\u2029]/u

/** RFC 5321 atext, and with SMTPUTF8 (RFC 6531) letters and digits of any script, but none that are invisible. */
const DOT_ATOM =
  /^(?:(?!\p{DI})[\w!#$%&'*+\-/=?^`{|}~\p{L}\p{M}\p{Nd}])+(?:\.(?:(?!\p{DI})[\w!#$%&'*+\-/=?^`{|}~\p{L}\p{M}\p{Nd}])+)*$/u
/** Most addresses: nothing in them has two spellings but the case. */
const PLAIN = /^[\w.+-]+@[a-z0-9.-]+$/i
/** Inside quotes, unescaped. Angle brackets are legal there, but common readers end the address at them. */
const QUOTED_CONTENT = /^(?:(?!\p{DI})[\x20-\x3b=\x3f-\x7e\p{L}\p{M}\p{Nd}])+$/u
const QUOTED_LOCAL = /^"((?:[^"\\]|\\.)*)"@(.+)$/u

/**
 * One mailbox from one string: `ada@example.com`, `Ada <ada@example.com>`, `"Doe, Jane" <j@x.org>`. Null for anything
 * else: several addresses, groups, comments in an address, control characters.
 *
 * The address comes back as it goes on the wire: the domain in lower case and punycode (so nobody below needs to know
 * about IDN), the local part as given, without needless quotes. Text in brackets in a name is kept as part of the name.
 */
export function parseMailbox(text: string): Mailbox | null {
  if (text.length > MAX_TEXT_LENGTH || CONTROL.test(text) || !text.isWellFormed()) return null
  const trimmed = text.trim()
  if (!trimmed.endsWith('>')) {
    const address = parseAddress(trimmed)
    return address === null ? null : { address, name: null }
  }
  const phrase = readPhrase(trimmed)
  if (phrase === null) return null
  const address = parseAddress(trimmed.slice(phrase.end + 1, -1).trim())
  return address === null ? null : { address, name: phrase.name === '' ? null : phrase.name }
}

/** What a list of strings came to: the mailboxes, and the positions of those that are none. */
export interface ParsedMailboxes {
  readonly mailboxes: readonly Mailbox[]
  readonly invalid: readonly number[]
}

/** A field that takes one string or several. One string is still one mailbox: a comma does not make two. */
export function parseMailboxes(texts: string | readonly string[]): ParsedMailboxes {
  const mailboxes: Mailbox[] = []
  const invalid: number[] = []
  for (const [index, text] of (typeof texts === 'string' ? [texts] : texts).entries()) {
    const mailbox = parseMailbox(text)
    if (mailbox) mailboxes.push(mailbox)
    else invalid.push(index)
  }
  return { mailboxes, invalid }
}

/**
 * The one spelling of an address under which suppressions are looked up and recipients are counted once. Never written
 * on the wire: a server may tell `Ada` from `ada`, but no sender should rely on it.
 */
export function foldAddress(address: string): string {
  if (PLAIN.test(address)) return address.toLowerCase()
  return (parseAddress(address.trim()) ?? address.trim()).normalize('NFC').toLowerCase().normalize('NFC')
}

export function sameAddress(a: string, b: string): boolean {
  return a === b || foldAddress(a) === foldAddress(b)
}

/** Only servers that offer SMTPUTF8 can take it: its local part is not ASCII and has no ASCII form. */
export function needsSmtpUtf8(address: string): boolean {
  return /[^\0-\x7f]/.test(address.slice(0, address.lastIndexOf('@')))
}

/** For logs: enough to recognise an address one knows, too little to learn one. */
export function maskAddress(address: string): string {
  const at = address.lastIndexOf('@')
  if (at < 1 || CONTROL.test(address)) return '***'
  const [first] = address.replace(/^"/, '')
  return `${first}***@${address.slice(at + 1)}`
}

/** An address without a name; null if it is none. */
function parseAddress(text: string): string | null {
  const quoted = QUOTED_LOCAL.exec(text)
  const at = quoted ? -1 : text.indexOf('@')
  const local = quoted ? requote(quoted[1]!) : text.slice(0, at).normalize('NFC')
  if (local === null || (!quoted && (at < 1 || !DOT_ATOM.test(local)))) return null
  const domain = parseDomain(quoted ? quoted[2]! : text.slice(at + 1))
  if (domain === null || countOctets(local) > MAX_LOCAL_OCTETS) return null
  const address = `${local}@${domain}`
  return countOctets(address) <= MAX_ADDRESS_OCTETS ? address : null
}

/** `"ada"@x` and `ada@x` are one mailbox (RFC 5321 4.1.2), so quotes and backslashes stay only where they are needed. */
function requote(escaped: string): string | null {
  const content = escaped.replaceAll(/\\(.)/gu, '$1').normalize('NFC')
  if (!QUOTED_CONTENT.test(content)) return null
  return DOT_ATOM.test(content) ? content : `"${content.replaceAll(/["\\]/g, String.raw`\$&`)}"`
}

function parseDomain(text: string): string | null {
  if (!text.startsWith('[')) return domainToAscii(text)
  const literal = /^\[(?:IPv6:([\da-f:.]+)|([\d.]+))\]$/i.exec(text)
  if (!literal) return null
  if (literal[2]) return isIpv4(literal[2]) ? text : null
  return isIpv6(literal[1]!) ? `[IPv6:${literal[1]!.toLowerCase()}]` : null
}

function isIpv4(text: string): boolean {
  return /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/.test(text)
}

function isIpv6(text: string): boolean {
  const last = text.slice(text.lastIndexOf(':') + 1)
  const groups = last.includes('.') ? `${text.slice(0, -last.length)}0:0` : text
  if (last.includes('.') && !isIpv4(last)) return false
  const halves = groups.split('::')
  if (halves.length > 2) return false
  const parts = halves.flatMap((half) => (half === '' ? [] : half.split(':')))
  return (
    parts.every((part) => /^[\da-f]{1,4}$/i.test(part)) && (halves.length === 2 ? parts.length < 8 : parts.length === 8)
  )
}

/**
 * The name before the angle bracket, and where that is. An unquoted separator means that somebody might read more than
 * one mailbox here, so it is refused rather than guessed at.
 */
function readPhrase(text: string): { name: string; end: number } | null {
  let name = ''
  let bracket = false
  for (let i = 0; i < text.length; i++) {
    const character = text[i]!
    if (character === '"') {
      const quoted = /^"((?:[^"\\]|\\.)*)"/u.exec(text.slice(i))
      if (!quoted || bracket) return null
      name += quoted[1]!.replaceAll(/\\(.)/gu, '$1')
      i += quoted[0].length - 1
    } else if (character === '<') {
      return bracket ? null : { name: name.trim(), end: i }
    } else if ('>,;:@\\'.includes(character)) {
      return null
    } else {
      // Comments do not nest here, and one that never ends would swallow the address in a reader that knows comments.
      if ((character === '(' && bracket) || (character === ')' && !bracket)) return null
      if (character === '(' || character === ')') bracket = character === '('
      name += character
    }
  }
  return null
}

function countOctets(text: string): number {
  return new TextEncoder().encode(text).length
}
