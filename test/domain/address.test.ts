import { domainToASCII } from 'node:url'
import fc from 'fast-check'
import PostalMime from 'postal-mime'
import { describe, expect, it } from 'vitest'
import {
  foldAddress,
  maskAddress,
  needsSmtpUtf8,
  parseMailbox,
  parseMailboxes,
  sameAddress,
} from '../../src/domain/address.js'
import { domainToAscii } from '../../src/domain/idn.js'

/** What is written, the address that goes on the wire, and the name. */
const VALID: [text: string, address: string, name?: string][] = [
  ['ada@example.com', 'ada@example.com'],
  ['  ada@example.com  ', 'ada@example.com'],
  ['<ada@example.com>', 'ada@example.com'],
  ['< ada@example.com >', 'ada@example.com'],
  ['Ada <ada@example.com>', 'ada@example.com', 'Ada'],
  ['Ada<ada@example.com>', 'ada@example.com', 'Ada'],
  ['Ada Lovelace <ada@example.com>', 'ada@example.com', 'Ada Lovelace'],
  ['"Ada Lovelace" <ada@example.com>', 'ada@example.com', 'Ada Lovelace'],
  ['"Doe, Jane" <j@x.org>', 'j@x.org', 'Doe, Jane'],
  ['"Jane \\"JD\\" Doe" <j@x.org>', 'j@x.org', 'Jane "JD" Doe'],
  ['"back\\\\slash" <j@x.org>', 'j@x.org', 'back\\slash'],
  ['"" <j@x.org>', 'j@x.org'],
  ['"<evil@evil.test>" <j@x.org>', 'j@x.org', '<evil@evil.test>'],
  ['"a@b.c, d@e.f;" <j@x.org>', 'j@x.org', 'a@b.c, d@e.f;'],
  ["O'Brien <ob@x.org>", 'ob@x.org', "O'Brien"],
  ['J. R. Doe <j@x.org>', 'j@x.org', 'J. R. Doe'],
  ['Acme (Sales) <j@x.org>', 'j@x.org', 'Acme (Sales)'],
  ['[Acme] Bot <j@x.org>', 'j@x.org', '[Acme] Bot'],
  ['Café Zoë <j@x.org>', 'j@x.org', 'Café Zoë'],
  ['山田太郎 <j@x.org>', 'j@x.org', '山田太郎'],
  ['محمد <j@x.org>', 'j@x.org', 'محمد'],
  ['🚀 Launch <j@x.org>', 'j@x.org', '🚀 Launch'],
  ['👩‍👩‍👧 <j@x.org>', 'j@x.org', '👩‍👩‍👧'],
  ['A & B + C = D! <j@x.org>', 'j@x.org', 'A & B + C = D!'],
  ['100% #1 <j@x.org>', 'j@x.org', '100% #1'],
  ['=?utf-8?Q?Ada?= <j@x.org>', 'j@x.org', '=?utf-8?Q?Ada?='],
  ['"Dr." Who <j@x.org>', 'j@x.org', 'Dr. Who'],
  ['ada+tag@example.com', 'ada+tag@example.com'],
  ["o'brien@example.com", "o'brien@example.com"],
  ['first.last@example.com', 'first.last@example.com'],
  ['a.b.c.d.e@example.com', 'a.b.c.d.e@example.com'],
  ['_@example.com', '_@example.com'],
  ['-@example.com', '-@example.com'],
  ['1@example.com', '1@example.com'],
  ['1234567890@example.com', '1234567890@example.com'],
  ["!#$%&'*+-/=?^_`{|}~@example.com", "!#$%&'*+-/=?^_`{|}~@example.com"],
  ['user%relay@example.com', 'user%relay@example.com'],
  ['host!user@example.com', 'host!user@example.com'],
  ['customer/department=shipping@example.com', 'customer/department=shipping@example.com'],
  ['$A12345@example.com', '$A12345@example.com'],
  ['Ada@Example.COM', 'Ada@example.com'],
  ['ADA@EXAMPLE.COM', 'ADA@example.com'],
  ['root@localhost', 'root@localhost'],
  ['a@b', 'a@b'],
  ['x@my_host', 'x@my_host'],
  ['x@a-b.example', 'x@a-b.example'],
  ['x@a--b.example', 'x@a--b.example'],
  ['x@1.example', 'x@1.example'],
  ['x@123.com', 'x@123.com'],
  ['x@example.museum', 'x@example.museum'],
  ['x@example.international', 'x@example.international'],
  ['x@example.xn--vermgensberatung-pwb', 'x@example.xn--vermgensberatung-pwb'],
  ['x@mail.sub.domain.example.co.uk', 'x@mail.sub.domain.example.co.uk'],
  [`${'a'.repeat(64)}@example.com`, `${'a'.repeat(64)}@example.com`],
  [`x@${'a'.repeat(63)}.com`, `x@${'a'.repeat(63)}.com`],
  [`x@${'abcdefghi.'.repeat(24)}comabcdefghi`, `x@${'abcdefghi.'.repeat(24)}comabcdefghi`],
  ['x@bücher.de', 'x@xn--bcher-kva.de'],
  ['x@BÜCHER.de', 'x@xn--bcher-kva.de'],
  ['x@faß.de', 'x@xn--fa-hia.de'],
  ['x@例え.jp', 'x@xn--r8jz45g.jp'],
  ['x@例え。jp', 'x@xn--r8jz45g.jp'],
  ['x@ｅｘａｍｐｌｅ.com', 'x@example.com'],
  ['x@пример.рф', 'x@xn--e1afmkfd.xn--p1ai'],
  ['x@مثال.إختبار', 'x@xn--mgbh0fb.xn--kgbechtv'],
  ['x@xn--bcher-kva.de', 'x@xn--bcher-kva.de'],
  ['zoë@example.com', 'zoë@example.com'],
  ['用户@例え.jp', '用户@xn--r8jz45g.jp'],
  ['अजय@डाटा.भारत', 'अजय@xn--c2bd1gb.xn--h2brj9c'],
  ['"a b"@x.org', '"a b"@x.org'],
  ['"a@b"@x.org', '"a@b"@x.org'],
  ['"a..b"@x.org', '"a..b"@x.org'],
  ['".a"@x.org', '".a"@x.org'],
  ['"a,b;c:d"@x.org', '"a,b;c:d"@x.org'],
  ['"a\\"b"@x.org', '"a\\"b"@x.org'],
  ['"a\\\\b"@x.org', '"a\\\\b"@x.org'],
  ['"(a)"@x.org', '"(a)"@x.org'],
  ['"ada"@x.org', 'ada@x.org'],
  ['"\\a\\d\\a"@x.org', 'ada@x.org'],
  ['Ada <"a b"@x.org>', '"a b"@x.org', 'Ada'],
  ['x@[192.0.2.1]', 'x@[192.0.2.1]'],
  ['x@[IPv6:2001:DB8::1]', 'x@[IPv6:2001:db8::1]'],
  ['x@[ipv6:::1]', 'x@[IPv6:::1]'],
  ['x@[IPv6:1:2:3:4:5:6:7:8]', 'x@[IPv6:1:2:3:4:5:6:7:8]'],
  ['x@[IPv6:::ffff:192.0.2.1]', 'x@[IPv6:::ffff:192.0.2.1]'],
]

const INVALID: readonly string[] = [
  '',
  ' ',
  '@',
  'ada',
  'ada@',
  '@example.com',
  'Ada <>',
  'Ada <ada>',
  'Ada',
  '<>',
  '<ada@example.com',
  'ada@example.com>',
  'Ada <ada@example.com',
  'Ada ada@example.com',
  'ada@example.com Ada',
  '<ada@example.com> Ada',
  'ada@@example.com',
  'ada@example@com',
  'ada@evil.test@example.com',
  'a b@example.com',
  'ada @example.com',
  'ada@ example.com',
  'ada@exam ple.com',
  '.ada@example.com',
  'ada.@example.com',
  'a..b@example.com',
  'ada@.example.com',
  'ada@example.com.',
  'ada@example..com',
  'ada@-example.com',
  'ada@example-.com',
  'ada@exam!ple.com',
  'ada@example.com/evil',
  'ada@example.com#x',
  'ada@example.com?x',
  'ada@example.com\\x',
  'ada@example%2ecom',
  'ada@127.0.0.1',
  'ada@example.123',
  'ada@[127.0.0.1',
  'ada@127.0.0.1]',
  'ada@[256.0.0.1]',
  'ada@[1.2.3]',
  'ada@[1.2.3.4.]',
  'ada@[01.2.3.4]',
  'ada@[IPv6:1::2::3]',
  'ada@[IPv6:12345::]',
  'ada@[IPv6:1:2:3]',
  'ada@[2001:db8::1]',
  'ada@[x@evil.test]',
  'ada@[]',
  `${'a'.repeat(65)}@example.com`,
  `${'é'.repeat(33)}@example.com`,
  `x@${'a'.repeat(64)}.com`,
  `${'a'.repeat(60)}@${'abcdefghi.'.repeat(20)}com`,
  `x@${'ü'.repeat(60)}.de`,
  `x@${'abcdefghi.'.repeat(26)}com`,
  // several mailboxes, groups, lists
  'a@x.org, b@x.org',
  'a@x.org; b@x.org',
  'a@x.org b@x.org',
  'a@x.org,',
  ',a@x.org',
  'a@x.org,b@x.org',
  'Ada <a@x.org>, Bob <b@x.org>',
  'Ada <a@x.org> <b@x.org>',
  '<a@x.org><b@x.org>',
  'Doe, Jane <j@x.org>',
  'b@x.org <a@x.org>',
  'Team: a@x.org;',
  'Team: a@x.org, b@x.org;',
  'Team:;',
  'Team: <a@x.org>',
  '<@relay.test:a@x.org>',
  '<@relay.test,@other.test:a@x.org>',
  '<<a@x.org>>',
  '"a@x.org',
  'a"b@x.org',
  '"a"b@x.org',
  '"a" b@x.org',
  '"a"."b"@x.org',
  '""@x.org',
  '"a>b"@x.org',
  '"a<b"@x.org',
  'Ada <"a@x.org> <b"@x.org>',
  '"Ada <a@x.org>',
  'Ada\\ <a@x.org>',
  // comments
  'ada@example.com (Ada)',
  '(Ada) ada@example.com',
  'ada(comment)@example.com',
  'ada@(comment)example.com',
  'ada@example.com(comment)',
  'a(<b@evil.test>)@x.org',
  'Ada ( <a@x.org>',
  'Ada ) <a@x.org>',
  'Ada ((x)) <a@x.org>',
  'Ada (<b@evil.test>) <a@x.org>',
  'Ada ("x) <a@x.org>',
  // control characters and what readers take for them
  'ada@example.com\r\nBcc: evil@evil.test',
  'ada@example.com\nBcc: evil@evil.test',
  'ada@example.com\rBcc: evil@evil.test',
  'Ada\r\nBcc: evil@evil.test <ada@example.com>',
  'Ada\r\n <ada@example.com>',
  '"Ada\r\n\r\nbody" <ada@example.com>',
  '"Ada\\\r\n" <ada@example.com>',
  'ada@example.com\n',
  '\nada@example.com',
  'ada@example.com\0',
  'a\0da@example.com',
  'ada@exam\tple.com',
  'Ada\t<ada@example.com>',
  'ada\v@example.com',
  'ada\f@example.com',
  'ada\x1b[31m@example.com',
  'ada\x7f@example.com',
  'ada\x85@example.com',
  'Ada\u2028Bcc: evil@evil.test <ada@example.com>',
  'Ada\u2029<ada@example.com>',
  '"a\r\nRCPT TO:<evil@evil.test>"@x.org',
  'ada@example.com>\r\nRCPT TO:<evil@evil.test',
  'ada@example.com> SIZE=1 <x@y',
  'ada@example.com> BODY=8BITMIME',
  // characters that look like nothing, or like others
  'a\u200Bda@example.com',
  'a\u00ADda@example.com',
  'ada@exa\u00ADmple.com',
  'ada@exam\u200Dple.com',
  'a\u3164@example.com',
  'ada＠example.com',
  'ada@example.com＠evil.test',
  'ada@evil.test／example.com',
  'ada@℀.test',
  'ada@a\u0338b@c',
  'ada\u00A0b@example.com',
  'ada@\u0301example.com',
  'ada\uD800@example.com',
  'Ada \uDC00 <ada@example.com>',
  '🚀@example.com',
  `${'x'.repeat(5_000)} <ada@example.com>`,
]

async function readTo(value: string) {
  const email = await PostalMime.parse(Buffer.from(`From: f@x.org\r\nTo: ${value}\r\n\r\n`))
  return email.to ?? []
}

describe('a mailbox', () => {
  it('has a corpus worth the name', () => {
    expect(VALID.length + INVALID.length).toBeGreaterThanOrEqual(120)
  })

  it.each(VALID)('is read from %j', (text, address, name) => {
    expect(parseMailbox(text)).toEqual({ address, name: name ?? null })
  })

  it.each(INVALID)('is not read from %j', (text) => {
    expect(parseMailbox(text)).toBeNull()
  })

  it.each(VALID)('is one address to an independent parser as well: %j', async (_text, address) => {
    expect(await readTo(`<${address}>`)).toMatchObject([{ address }])
  })

  it.each(
    // postal-mime takes the quotes off a bare address, and the colon of a bare IPv6 literal for a group.
    VALID.filter(([text]) => text.includes('<') || !/["[]/.test(text)),
  )('is the same to an independent parser as it was typed: %j', async (text, address) => {
    const seen = await readTo(text)
    expect(seen).toHaveLength(1)
    expect(foldAddress(seen[0]!.address!.trim())).toBe(foldAddress(address))
  })

  it('whatever it is read from, is one address to an independent parser', async () => {
    const piece = fc.constantFrom(
      ...Array.from('ab.@<>"\\(),;: \r\n\0[]é=?'),
      'x.org',
      '@x.org',
      '<a@x.org>',
      'Bcc:',
      '"',
      '\\"',
    )
    const text = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''))
    await fc.assert(
      fc.asyncProperty(text, async (text) => {
        const mailbox = parseMailbox(text)
        if (!mailbox) return
        expect(await readTo(`<${mailbox.address}>`)).toMatchObject([{ address: mailbox.address }])
        expect(parseMailbox(mailbox.address)).toEqual({ address: mailbox.address, name: null })
        expect(`${mailbox.address}${mailbox.name}`).not.toMatch(/\p{Cc}/u)
      }),
      { numRuns: 20_000 },
    )
  })

  it('comes alone or in a list that says which ones are none', () => {
    expect(parseMailboxes('Ada <ada@x.org>')).toEqual({
      mailboxes: [{ address: 'ada@x.org', name: 'Ada' }],
      invalid: [],
    })
    expect(parseMailboxes(['a@x.org', 'b', 'c@x.org', 'd@x.org, e@x.org'])).toEqual({
      mailboxes: [
        { address: 'a@x.org', name: null },
        { address: 'c@x.org', name: null },
      ],
      invalid: [1, 3],
    })
  })

  it('takes no time to refuse', () => {
    const started = process.cpuUsage()
    for (const hostile of [
      '"'.repeat(4_000),
      '\\'.repeat(4_000),
      `"${'\\"'.repeat(1_900)}`,
      `${'"a" '.repeat(990)}<a@x>`,
    ])
      parseMailbox(hostile)
    for (const hostile of [
      'a.'.repeat(2_000),
      `${'a'.repeat(3_900)}@`,
      `a@${'é.'.repeat(1_900)}`,
      `a@${'你'.repeat(3_900)}`,
    ])
      parseMailbox(hostile)
    expect(process.cpuUsage(started).user / 1_000).toBeLessThan(1_000)
  })
})

describe('a folded address', () => {
  it.each([
    ['Ada@Example.COM', 'ada@example.com'],
    [' ada@example.com ', 'ada@example.com'],
    ['ADA@BÜCHER.de', 'ada@xn--bcher-kva.de'],
    ['"Ada"@x.org', 'ada@x.org'],
    ['"A B"@X.org', '"a b"@x.org'],
    ['ZOË@x.org', 'zoë@x.org'],
    ['zoe\u0308@x.org', 'zoë@x.org'],
    ['not an address', 'not an address'],
  ])('of %j is %j', (address, folded) => {
    expect(foldAddress(address)).toBe(folded)
    expect(foldAddress(folded)).toBe(folded)
    expect(sameAddress(address, folded)).toBe(true)
  })

  it('keeps different mailboxes apart', () => {
    expect(sameAddress('a@x.org', 'b@x.org')).toBe(false)
    expect(sameAddress('a+b@x.org', 'a@x.org')).toBe(false)
    expect(sameAddress('a.b@x.org', 'ab@x.org')).toBe(false)
  })

  it('is folded once and for all', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }), (local, domain) => {
        const once = foldAddress(`${local}@${domain}`)
        expect(foldAddress(once)).toBe(once)
      }),
    )
  })
})

describe('an address', () => {
  it('needs SMTPUTF8 for its local part only', () => {
    expect(needsSmtpUtf8('zoë@example.com')).toBe(true)
    expect(needsSmtpUtf8('zoe@xn--bcher-kva.de')).toBe(false)
    expect(needsSmtpUtf8('zoe@bücher.de')).toBe(false)
  })

  it.each([
    ['ada@example.com', 'a***@example.com'],
    ['a@example.com', 'a***@example.com'],
    ['"a b"@example.com', 'a***@example.com'],
    ['用户@example.com', '用***@example.com'],
    ['@example.com', '***'],
    ['ada', '***'],
    ['', '***'],
    ['a\n@example.com', '***'],
  ])('is masked for logs: %j as %j', (address, masked) => {
    expect(maskAddress(address)).toBe(masked)
  })
})

describe('a domain in ASCII', () => {
  it('is what Node makes of it, wherever Node makes something of it', () => {
    const letters = 'abcxyzABCäöüßéñçøłžğıșþðаяЯжבאعربλςΣΩ日本語한국어अआไทยกﬁＡｂ０-1'
    const label = fc
      .array(fc.constantFrom(...Array.from(letters)), { minLength: 1, maxLength: 12 })
      .map((parts) => parts.join(''))
    fc.assert(
      fc.property(label, (label) => {
        const ours = domainToAscii(`${label}.example`)
        const node = domainToASCII(`${label}.example`)
        if (ours !== null && node !== '') expect(ours).toBe(node)
      }),
      { numRuns: 5_000, examples: [['aΣ日'], ['Σ'], ['ıß']] },
    )
  })
})
