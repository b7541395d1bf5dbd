import { domainToASCII } from 'node:url'

import type { Extensions } from './smtp-channel.js'

/** What a server is told of a message before it gets it. */
export interface Announcement {
  readonly sizeBytes: number
  /** Its headers have an address that RFC 5322 cannot write: SMTPUTF8 is then needed whoever it goes to (RFC 6531 3.2). */
  readonly hasUtf8Headers: boolean
}

export interface EnvelopeCommands {
  readonly mail: string
  readonly rcpt: string
}

/**
 * MAIL and RCPT for one message, or in words why this server cannot be given them. An address is refused rather than
 * repaired: whatever could end the command early would let its author write commands of their own.
 */
export function writeEnvelope(
  returnPath: string,
  recipient: string,
  { sizeBytes, hasUtf8Headers }: Announcement,
  extensions: Extensions,
): EnvelopeCommands | string {
  const from = asciiDomain(returnPath)
  const to = asciiDomain(recipient)
  if (!isWritable(from)) return 'the return path cannot be written into an SMTP command'
  if (to === '' || !isWritable(to)) return 'the recipient cannot be written into an SMTP command'
  const needsUtf8 = hasUtf8Headers || !isAscii(from) || !isAscii(to)
  if (needsUtf8 && !extensions.smtpUtf8) {
    const where = isAscii(from) && isAscii(to) ? ' in its headers' : ''
    return `an address${where} with letters outside ASCII before its @ needs SMTPUTF8, which the server does not offer`
  }
  const size = extensions.size ? ` SIZE=${sizeBytes}` : ''
  return { mail: `MAIL FROM:<${from}>${size}${needsUtf8 ? ' SMTPUTF8' : ''}`, rcpt: `RCPT TO:<${to}>` }
}

/** A domain has an ASCII form that every server knows; the part before the @ has none. */
function asciiDomain(address: string): string {
  if (isAscii(address)) return address
  const at = address.lastIndexOf('@')
  const domain = domainToASCII(address.slice(at + 1))
  return at === -1 || domain === '' ? address : `${address.slice(0, at)}@${domain}`
}

function isWritable(address: string): boolean {
  // oxlint-disable-next-line no-control-regex
  return address.length <= 320 && !/[\u0000-\u001f\u007f-\u009f\u2028\u2029<>]/.test(address)
}

function isAscii(text: string): boolean {
  // oxlint-disable-next-line no-control-regex
  return /^[\u0000-\u007f]*$/.test(text)
}

/** Everything else in headers is written as encoded-words, so what is left of it are addresses. */
export function findUtf8Headers(message: Buffer): boolean {
  const end = message.indexOf('\r\n\r\n')
  return !isAscii(message.toString('latin1', 0, end === -1 ? message.length : end))
}
