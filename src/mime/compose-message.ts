import type { Message } from '../domain/message.js'
import { composeParts } from './compose-parts.js'
import { writeHeaders } from './header-block.js'
import { encodeTextBody, toCrlf } from './text-body.js'

/**
 * The bytes of an email (RFC 5322), the same for the same message every time: no clock, no dice. They are 7-bit clean,
 * but for addresses that only SMTPUTF8 can carry, and every line ends in CRLF.
 *
 * Text, html, or both are written here, because composing is what sending costs. Attachments and invitations need a
 * whole MIME tree and go through nodemailer's composer, hence the promise; their headers are written by the same hand.
 */
export function composeMessage(message: Message): Buffer | Promise<Buffer> {
  const headers = `${writeHeaders(message)}MIME-Version: 1.0\r\n`
  const boundary = boundaryOf(message)
  if (message.attachments.length > 0 || message.calendar) return composeParts(headers, message, boundary)
  const text = headers + writeBody(message, boundary)
  // 7-bit but for SMTPUTF8 addresses, and one octet per character is written twice as fast.
  return Buffer.from(text, SEVEN_BIT.test(text) ? 'latin1' : 'utf8')
}

// eslint-disable-next-line no-control-regex
const SEVEN_BIT = /^[\0-\x7f]*$/

function writeBody(message: Message, boundary: string): string {
  // An empty part says nothing, and a reader that prefers it shows a blank page.
  if (message.html && message.text) {
    return (
      `Content-Type: multipart/alternative;\r\n boundary="${boundary}"\r\n\r\n` +
      `--${boundary}\r\n${writePart('plain', message.text, boundary)}\r\n` +
      `--${boundary}\r\n${writePart('html', message.html, boundary)}\r\n` +
      `--${boundary}--\r\n`
    )
  }
  const part = message.html
    ? writePart('html', message.html, boundary)
    : writePart('plain', message.text ?? '', boundary)
  return part.endsWith('\r\n') ? part : `${part}\r\n`
}

function writePart(subtype: 'plain' | 'html', text: string, boundary: string): string {
  const { encoding, content } = encodeTextBody(toCrlf(text), boundary)
  return `Content-Type: text/${subtype}; charset=utf-8\r\nContent-Transfer-Encoding: ${encoding}\r\n\r\n${content}`
}

/** Neither encoding can produce `=_`: in quoted-printable an equals sign is followed by a digit or a line break. */
function boundaryOf(message: Message): string {
  return `=_pr${message.id.replaceAll(/[^A-Za-z0-9]/g, '').slice(0, 48)}`
}
