import fc from 'fast-check'
import PostalMime from 'postal-mime'
import { describe, expect, it } from 'vitest'
import { foldAddress, parseMailbox, parseMailboxes } from '../../src/domain/address.js'
import { INVALID, VALID } from './mailbox-corpus.js'

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
