import MailComposer from 'nodemailer/lib/mail-composer'
import type { Attachment, Message } from '../domain/message.js'
import { toCrlf } from './text-body.js'

/**
 * An email with attachments, inline images or an invitation. nodemailer builds the MIME tree: text and html as
 * alternatives, images named by the html related to it, the invitation both as an alternative (what makes Gmail and
 * Outlook show their buttons) and as `invite.ics` for everybody else.
 *
 * It gets strings and buffers made here and never an object of a caller's: `{path}`, `{href}` and `{raw}` would let a
 * caller read our files and network or write its own headers.
 */
export async function composeParts(headers: string, message: Message, boundary: string): Promise<Buffer> {
  const text = message.text ? toCrlf(message.text) : undefined
  const html = message.html ? toCrlf(message.html) : undefined
  const ics = message.calendar ? toCrlf(message.calendar.ics) : undefined
  const composed = await new MailComposer({
    // Only to keep it from asking the clock and the dice for its own; cut off again below.
    messageId: '<unused@localhost>',
    date: new Date(0),
    ...(text && { text }),
    ...(html && { html }),
    ...(ics && message.calendar && { icalEvent: { method: message.calendar.method, content: ics } }),
    attachments: message.attachments.map(toNodemailer),
    boundaryPrefix: '=_',
    baseBoundary: boundary.slice('=_'.length),
    // Text that contains our boundary would end its part early, unless it is encoded.
    ...([text, html, ics].some((part) => part?.includes(boundary.slice('=_'.length))) && {
      encoding: 'quoted-printable',
    }),
    disableFileAccess: true,
    disableUrlAccess: true,
  })
    .compile()
    .build()
  const end = composed.indexOf('\r\n\r\n')
  const head = composed.toString('latin1', 0, end + 2)
  const contentHeaders = head.match(/^Content-.*\r\n(?:[ \t].*\r\n)*/gim) ?? []
  return Buffer.concat([Buffer.from(headers + contentHeaders.join('')), composed.subarray(end + 2)])
}

interface NodemailerAttachment {
  filename: string
  contentType: string
  cid?: string
  content: Buffer
  contentTransferEncoding: 'base64'
  contentDisposition: 'inline' | 'attachment'
}

function toNodemailer(attachment: Attachment, index: number): NodemailerAttachment {
  const { buffer, byteOffset, byteLength } = attachment.content
  const cid = attachment.contentId?.replaceAll(/[^\x21-\x7e]|[<>]/g, '')
  return {
    filename: toFilename(attachment.filename) || `attachment-${index + 1}`,
    contentType: toContentType(attachment.contentType),
    ...(cid && { cid }),
    content: Buffer.from(buffer, byteOffset, byteLength),
    contentTransferEncoding: 'base64',
    contentDisposition: cid ? 'inline' : 'attachment',
  }
}

/** A name, not a path: what stands before the last slash is about the sender's disk, or aims at the reader's. */
function toFilename(filename: string): string {
  return filename
    .toWellFormed()
    .replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ')
    .replace(/^.*[/\\]/, '')
    .trim()
    .slice(0, 255)
}

const TOKEN = String.raw`[\w!#$%&'*+.^\`|~-]+`
const CONTENT_TYPE = new RegExp(
  String.raw`^(?!multipart/|message/)${TOKEN}/${TOKEN}(?:\s*;\s*${TOKEN}=(?:${TOKEN}|"[\x20!\x23-\x5b\x5d-\x7e]*"))*$`,
  'i',
)

/**
 * Anything that is not a plain content type becomes the type of which nothing is known. So do `multipart/` and
 * `message/`: those must not be encoded (RFC 2046), and then their bytes would have to be safe to send as they are.
 */
function toContentType(contentType: string): string {
  return contentType.length <= 500 && CONTENT_TYPE.test(contentType) ? contentType : 'application/octet-stream'
}
