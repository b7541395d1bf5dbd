import { detectMimeType } from 'nodemailer/lib/mime-funcs/mime-types'
import type { PreparedEmail } from '../db/accept-emails.js'
import { EMAIL_LIMITS, type NewAttachment } from '../domain/new-email.js'
import type { Problem } from '../errors.js'

const CONTENT_TYPE =
  /^[\w!#$&^.+-]{1,127}\/[\w!#$&^.+-]{1,127}(?:; ?[\w!#$&^.+-]+=(?:[\w!#$&^.+-]+|"[\w !#$&^.+/:=-]*"))*$/
const CONTENT_ID = /^[\w!#$%&'*+/=?^`{|}~.@-]{1,200}$/

/** Bytes or base64 in, base64 out: what the statement that stores them takes. */
export function prepareAttachments(
  attachments: readonly NewAttachment[],
  refuse: (path: Problem['path'], detail: string) => void,
): PreparedEmail['attachments'] {
  if (attachments.length > EMAIL_LIMITS.attachments) refuse(['attachments'], `at most ${EMAIL_LIMITS.attachments}`)
  const prepared = attachments.map((attachment, index) => {
    const { filename, contentType = detectMimeType(attachment.filename), contentId } = attachment
    const wrong = (field: string, detail: string) => refuse(['attachments', index, field], detail)
    if (!filename || filename.length > 255 || /[\p{Cc}\u2028\u2029/\\]/u.test(filename) || !filename.isWellFormed())
      wrong('filename', 'must be 1 to 255 characters without slashes and control characters')
    if (!CONTENT_TYPE.test(contentType)) wrong('contentType', 'must be a media type such as application/pdf')
    if (contentId !== undefined && !CONTENT_ID.test(contentId))
      wrong('contentId', 'must be 1 to 200 characters as in cid:logo@example')
    const content = readBase64(attachment.content)
    if (content === null) wrong('content', 'must be base64')
    return { filename, contentType, contentId: contentId ?? null, content: content ?? '' }
  })
  const bytes = prepared.reduce((sum, { content }) => sum + Buffer.byteLength(content, 'base64'), 0)
  if (bytes > EMAIL_LIMITS.attachmentBytes)
    refuse(['attachments'], `at most ${EMAIL_LIMITS.attachmentBytes} bytes together`)
  return prepared
}

function readBase64(content: Uint8Array | string): string | null {
  if (typeof content !== 'string') return Buffer.from(content).toString('base64')
  const compact = content.replaceAll(/\s/g, '')
  const digits = compact.replace(/={1,2}$/, '')
  // Looked for one character at a time: a pattern of repeated groups runs out of stack at some megabytes.
  if (/[^A-Za-z0-9+/]/.test(digits) || digits.length % 4 === 1) return null
  return digits.length === compact.length || compact.length % 4 === 0 ? compact : null
}
