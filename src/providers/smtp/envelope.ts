import { domainToASCII } from 'node:url'

import type { Extensions } from './smtp-channel.js'

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
  sizeBytes: number,
  extensions: Extensions,
): EnvelopeCommands | string {
  const from = asciiDomain(returnPath)
  const to = asciiDomain(recipient)
  if (!isWritable(from)) return 'the return path cannot be written into an SMTP command'
  if (to === '' || !isWritable(to)) return 'the recipient cannot be written into an SMTP command'
  const needsUtf8 = !isAscii(from) || !isAscii(to)
  if (needsUtf8 && !extensions.smtpUtf8) {
    return 'an address with letters outside ASCII before its @ needs SMTPUTF8, which the server does not offer'
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
