import fc from 'fast-check'
import type { Attachment, Mailbox, Message } from '../../src/domain/message.js'

export const PLAIN: Message = {
  id: '0199c2f1-7a3e-7c11-9d3e-0123456789ab',
  workspaceId: 'w',
  messageId: '<0199c2f1-7a3e-7c11-9d3e-0123456789ab@mail.example.com>',
  date: new Date('2026-11-16T03:04:05Z'),
  from: { address: 'ada@example.com', name: 'Ada Lovelace' },
  to: [{ address: 'bob@example.org', name: null }],
  cc: [],
  bcc: [{ address: 'secret@hidden.example', name: 'Secret' }],
  replyTo: [],
  subject: 'Hello',
  html: null,
  text: 'Hello Bob\n',
  headers: {},
  attachments: [],
  calendar: null,
}

/** Words that broke something, somewhere, at some time. */
const word = fc.oneof(
  { weight: 4, arbitrary: fc.string({ minLength: 1, maxLength: 12, unit: 'grapheme' }) },
  { weight: 4, arbitrary: fc.string({ minLength: 1, maxLength: 12, unit: 'grapheme-ascii' }) },
  fc.constantFrom(
    'Grüße',
    '日本語のとても長い件名',
    'مرحبا بالعالم',
    'שלום',
    '🚀',
    '👩‍👩‍👧‍👦',
    '\u202Ertl\u202C',
    'é'.repeat(200),
    'a'.repeat(75),
    'a'.repeat(899),
    'a'.repeat(3_000),
    '🚀'.repeat(100),
    '=?utf-8?Q?Bcc=3A_x?=',
    '=?',
    '?=',
    '"quoted"',
    'back\\slash',
    'a,b;c:d<e>f@g(h)[i]',
    'x@evil.test',
    '<x@evil.test>',
    '_',
    '=20',
    ' '.repeat(90),
    '',
  ),
)

/** A line of text without control characters: subjects, names, values of text headers. */
export const lineOfText = fc.array(word, { maxLength: 8 }).map((words) =>
  words
    .join(' ')
    .replaceAll(/[\p{Cc}\u2028\u2029\uFEFF]/gu, '')
    .toWellFormed(),
)

/** The same, without what nodemailer's composer leaves as it is although readers decode it. */
export const tameLineOfText = lineOfText.map((text) => text.replaceAll('=?', '=').replaceAll(/ {2,}/g, ' ').trim())

const bodyLine = fc.oneof(
  lineOfText,
  fc.constantFrom(
    '.',
    '..',
    '.leading dot',
    'From here on',
    'trailing space ',
    'trailing tab\t',
    '\ttab',
    '=3D',
    '--',
    '-- ',
    '--=_pr0199c2f17a3e7c119d3e0123456789ab',
    '--=_pr0199c2f17a3e7c119d3e0123456789ab--',
    'x'.repeat(998),
    'x'.repeat(999),
    'y '.repeat(2_000),
    'ü'.repeat(1_000),
    'a\x07\x1b[0m\x00b',
    '',
  ),
)

export const bodyText = fc
  .array(fc.tuple(bodyLine, fc.constantFrom('\n', '\r\n', '\r', '\n\n', '')), { maxLength: 8 })
  .map((lines) => lines.map(([line, newline]) => line + newline).join(''))

const address = fc.constantFrom(
  'ada@example.com',
  'bob+tag@example.org',
  "o'brien@example.com",
  'x@xn--bcher-kva.de',
  'root@localhost',
  '"a b"@example.com',
  '"a,b"@example.com',
  'x@[192.0.2.1]',
  `${'l'.repeat(64)}@${'abcdefghi.'.repeat(18)}com`,
)

export function mailboxOf(name: fc.Arbitrary<string>): fc.Arbitrary<Mailbox> {
  return fc.record({ address, name: fc.option(name.map((text) => text.trim() || null)) })
}

const attachment: fc.Arbitrary<Attachment> = fc.record({
  filename: fc.oneof(
    tameLineOfText.map((text) => text.replaceAll(/[/\\]/g, '').trim().slice(0, 100).toWellFormed().trim() || 'x'),
    fc.constantFrom(
      'a.txt',
      'résumé.pdf',
      '请.docx',
      'a b.png',
      'quote".txt',
      "it's.txt",
      'per%cent.txt',
      'semi;colon=.txt',
    ),
  ),
  contentType: fc.constantFrom('text/plain', 'image/png', 'application/pdf', 'text/csv; charset=utf-8'),
  contentId: fc.constant(null),
  content: fc.uint8Array({ maxLength: 300 }),
})

export const attachments = fc.array(attachment, { maxLength: 3 })

/** Any message with text or html or both or neither. */
export function messageOf(text: fc.Arbitrary<string>): fc.Arbitrary<Message> {
  const mailbox = mailboxOf(text)
  return fc.record({
    id: fc.constant(PLAIN.id),
    workspaceId: fc.constant('w'),
    messageId: fc.constant(PLAIN.messageId),
    date: fc.date({ min: new Date('1970-01-01'), max: new Date('2099-12-31'), noInvalidDate: true }),
    from: mailbox,
    to: fc.array(mailbox, { minLength: 1, maxLength: 5 }),
    cc: fc.array(mailbox, { maxLength: 2 }),
    bcc: fc.constant(PLAIN.bcc),
    replyTo: fc.array(mailbox, { maxLength: 2 }),
    subject: text,
    html: fc.option(bodyText),
    text: fc.option(bodyText),
    headers: fc.record(
      {
        'X-Entity-Ref-ID': text.map((value) => value.trim() || 'x'),
        Comments: text.map((value) => value.trim() || 'x'),
        References: fc
          .array(fc.constantFrom('<a@b>', `<${'r'.repeat(70)}@example.com>`), { minLength: 1, maxLength: 8 })
          .map((ids) => ids.join(' ')),
        'List-Unsubscribe': fc.constant(`<https://example.com/u/${'t'.repeat(300)}>, <mailto:u@example.com>`),
        'Auto-Submitted': fc.constant('auto-generated'),
      },
      { requiredKeys: [] },
    ),
    attachments: fc.constant([]),
    calendar: fc.constant(null),
  })
}
