import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  findHeaderProblems,
  isTextHeader,
  MAX_HEADER_PIECE_OCTETS,
  MAX_HEADERS,
  MAX_HEADERS_OCTETS,
} from '../../src/domain/headers.js'

function problemsOf(name: string, value: unknown = 'x') {
  // As JSON.parse makes it: `__proto__` is then a key like any other.
  return findHeaderProblems(JSON.parse(JSON.stringify({ x: value }).replace('"x"', JSON.stringify(name))))
}

describe('a custom header', () => {
  it.each([
    'X-Entity-Ref-ID',
    'x-a',
    'X-Mailer',
    'X-Priority',
    'List-Unsubscribe',
    'List-Unsubscribe-Post',
    'List-Id',
    'list-help',
    'References',
    'In-Reply-To',
    'Auto-Submitted',
    'Precedence',
    'Importance',
    'Priority',
    'Sensitivity',
    'Feedback-ID',
    'Comments',
    'Keywords',
    'Organization',
    'Thread-Topic',
    'Thread-Index',
    'Archived-At',
    'Expires',
  ])('may be %s', (name) => {
    expect(problemsOf(name)).toEqual([])
  })

  it.each([
    'From',
    'FROM',
    'Sender',
    'To',
    'Cc',
    'Bcc',
    'bcc',
    'Reply-To',
    'Subject',
    'Date',
    'Message-ID',
    'message-id',
    'Return-Path',
    'Received',
    'Received-SPF',
    'Delivered-To',
    'X-Original-To',
    'DKIM-Signature',
    'X-Google-DKIM-Signature',
    'DomainKey-Signature',
    'ARC-Seal',
    'ARC-Message-Signature',
    'ARC-Authentication-Results',
    'Authentication-Results',
    'MIME-Version',
    'Content-Type',
    'Content-Transfer-Encoding',
    'Content-Disposition',
    'content-id',
    'Resent-From',
    'Resent-To',
    'Resent-Bcc',
    'Resent-Message-ID',
    'Disposition-Notification-To',
    'Apparently-To',
    'Errors-To',
    'X-',
    'X',
    'List-',
    'Anything',
    '__proto__',
    'constructor',
    'prototype',
    'toString',
    'hasOwnProperty',
  ])('may not be %s', (name) => {
    expect(problemsOf(name)).toEqual([{ name, detail: expect.stringMatching(/cannot be set|not a header name/) }])
  })

  it.each([
    '',
    ' ',
    ' X-A',
    'X-A ',
    'X A',
    'X-A\t',
    '\tX-A',
    'X-A:',
    'X-A: x\r\nBcc',
    'X-A\r\nBcc',
    'X-A\nBcc',
    'X-A\rBcc',
    'X-A\r\n Bcc',
    'X-A\0',
    'X-A\u2028Bcc',
    'X-A\u0085Bcc',
    'X-Ä',
    'Х-Cyrillic',
    'X-A\u200B',
    'X-A(comment)',
    'X-"A"',
    'X-<A>',
    '=?utf-8?Q?Bcc?=',
    '-X-A',
    `X-${'a'.repeat(75)}`,
  ])('has no such name as %j', (name) => {
    expect(problemsOf(name)).toMatchObject([{ name }])
  })

  it.each([
    'a\r\nBcc: evil@evil.test',
    'a\nBcc: evil@evil.test',
    'a\rBcc: evil@evil.test',
    'a\r\n\r\n<script>',
    'a\r\n b',
    'a\n\tb',
    'a\n',
    '\r\na',
    'a\0b',
    'a\tb',
    'a\vb',
    'a\fb',
    'a\x1b[0m',
    'a\x7f',
    'a\x85Bcc: evil@evil.test',
    'a\x9f',
    'a\u2028Bcc: evil@evil.test',
    'a\u2029Bcc: evil@evil.test',
    'a\uD83D',
    '\uDE80a',
    '',
    '   ',
    'a'.repeat(MAX_HEADER_PIECE_OCTETS + 1),
    `a ${'é'.repeat(500)} b`,
  ])('has no such value as %j', (value) => {
    expect(problemsOf('X-A', value)).toHaveLength(1)
    expect(problemsOf('List-Id', value)).toHaveLength(1)
  })

  it.each([null, 1, true, ['a'], { prepared: true, value: 'a\r\nBcc: b@c' }, { path: '/etc/passwd' }])(
    'is a string, not %j',
    (value) => {
      expect(problemsOf('X-A', value)).toEqual([{ name: 'X-A', detail: 'must be a string' }])
    },
  )

  it('may be of any script where readers decode it, and only there', () => {
    for (const value of ['Grüße', '日本語', '🚀', '=?utf-8?Q?a=0D=0ABcc:_b@c?=']) {
      expect(problemsOf('X-A', value)).toEqual([])
      expect(problemsOf('Comments', value)).toEqual([])
      expect(problemsOf('References', value)).toHaveLength(1)
      expect(problemsOf('List-Unsubscribe', value)).toHaveLength(1)
    }
    expect(isTextHeader('x-a')).toBe(true)
    expect(isTextHeader('List-Id')).toBe(false)
  })

  it('is set once, however it is spelt', () => {
    expect(findHeaderProblems({ 'X-A': '1', 'x-a': '2' })).toEqual([{ name: 'x-a', detail: 'is set more than once' }])
  })

  it('is one of not too many, and not too large with the others', () => {
    const many = (count: number, value: string) =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`X-${i}`, value]))
    expect(findHeaderProblems(many(MAX_HEADERS, 'x'))).toEqual([])
    expect(findHeaderProblems(many(MAX_HEADERS + 1, 'x'))).toHaveLength(1)
    const large = 'abcd '.repeat(100)
    expect(findHeaderProblems(many(Math.floor(MAX_HEADERS_OCTETS / (large.length + 10)), large))).toEqual([])
    expect(findHeaderProblems(many(Math.ceil(MAX_HEADERS_OCTETS / large.length), large))).toHaveLength(1)
  })

  it('that nobody complains about has neither a line break nor a control character', () => {
    const text = fc.string({ unit: 'binary' })
    fc.assert(
      fc.property(fc.oneof(text, fc.constantFrom('X-A', 'List-Id', 'Bcc')), text, (name, value) => {
        if (findHeaderProblems({ [name]: value }).length === 0)
          expect(`${name}: ${value}`).toMatch(/^(?:X|List)-[\w-]+: [^\p{Cc}\u2028\u2029]*$/iu)
      }),
      { numRuns: 5_000 },
    )
  })
})
