import { createHash, createVerify, generateKeyPairSync } from 'node:crypto'
import { expect, test } from 'vitest'

import { closeAfterEach, providerFor, send, startServer } from './smtp-fixture.js'

closeAfterEach()

const { privateKey, publicKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  publicKeyEncoding: { type: 'spki', format: 'pem' },
})
const dkim = { domain: 'example.com', selector: 'main', privateKey }
const MESSAGE = [
  'From: Ann <ann@example.com>',
  'To: bob@example.com',
  'Subject: =?UTF-8?Q?gr=C3=BCn?=',
  'Message-ID: <m1@example.com>',
  'List-Unsubscribe: <https://example.com/u>',
  'List-Unsubscribe-Post: List-Unsubscribe=One-Click',
  '',
  'Hello,  there. ',
  '.a line that begins with a dot',
  '\tand one with a tab',
  '',
  '',
].join('\r\n')

/** RFC 6376 read anew: relaxed/relaxed, by nobody who signed. */
function isValid(received: string): boolean {
  const [, head, body] = /^([^]*?\r\n)\r\n([^]*)$/.exec(received)!
  const fields = head!.split(/\r\n(?![ \t])/).filter(Boolean)
  const relax = (field: string) => {
    const [, name, value] = /^([^:]+):([^]*)$/.exec(field)!
    return `${name!.trim().toLowerCase()}:${value!
      .replace(/\r\n/g, '')
      .replace(/[ \t]+/g, ' ')
      .trim()}`
  }
  const signature = fields.find((field) => /^dkim-signature:/i.test(field))!
  const tags = new Map(
    signature
      .slice(signature.indexOf(':') + 1)
      .split(';')
      .map((tag) => {
        const at = tag.indexOf('=')
        return [tag.slice(0, at).trim(), tag.slice(at + 1).replace(/\s+/g, '')] as const
      }),
  )
  const lines = body!.split('\r\n').map((line) => line.replace(/[ \t]+/g, ' ').replace(/ $/, ''))
  while (lines.at(-1) === '') lines.pop()
  const bodyHash = createHash('sha256')
    .update(`${lines.join('\r\n')}\r\n`)
    .digest('base64')
  if (tags.get('c') !== 'relaxed/relaxed' || tags.get('bh') !== bodyHash) return false
  const signed = tags
    .get('h')!
    .split(':')
    .map((name) => fields.find((field) => field.toLowerCase().startsWith(`${name.toLowerCase()}:`)))
    .filter((field) => field !== undefined)
    .map((field) => `${relax(field)}\r\n`)
    .join('')
  const unsigned = relax(signature).replace(/\bb=[^;]*$|\bb=[^;]*(?=;)/, 'b=')
  return createVerify('sha256')
    .update(signed + unsigned)
    .verify(publicKey, tags.get('b')!, 'base64')
}

function received(raw: Buffer): string {
  return raw.toString('latin1').replace(/(^|\r\n)\./g, '$1')
}

test('every message arrives with a signature that verifies', async () => {
  const server = await startServer()
  const provider = providerFor(server, { body: MESSAGE, settings: { dkim } })
  const results = await Promise.all(Array.from({ length: 20 }, () => send(provider)))
  expect(results.every(({ kind }) => kind === 'accepted')).toBe(true)
  for (const { raw } of server.taken) {
    const text = received(raw)
    expect(text).toMatch(/^DKIM-Signature: v=1; a=rsa-sha256; .*d=example\.com/)
    expect(text.endsWith(MESSAGE)).toBe(true)
    expect(isValid(text)).toBe(true)
    expect(isValid(text.replace('Hello', 'Hallo'))).toBe(false)
    expect(isValid(text.replace('From: Ann', 'From: Eve'))).toBe(false)
    // RFC 8058: one click counts only under a signature that covers both fields.
    expect(isValid(text.replace('example.com/u>', 'example.com/v>'))).toBe(false)
    expect(isValid(text.replace('=One-Click', '=Two-Clicks'))).toBe(false)
  }
})

test('lone line breaks are made right before the signature, not after', async () => {
  const server = await startServer()
  const provider = providerFor(server, { body: MESSAGE.replaceAll('\r\n', '\n'), settings: { dkim } })
  expect(await send(provider)).toMatchObject({ kind: 'accepted' })
  expect(isValid(received(server.taken[0]!.raw))).toBe(true)
})

test.each([
  ['nonsense', '-----BEGIN PRIVATE KEY-----\nnonsense\n-----END PRIVATE KEY-----', /not a private key in PEM/],
  [
    'of the wrong kind',
    generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    /not an RSA key/,
  ],
])('a key that is %s is the fault of the sender, and is not shown', async (_name, brokenKey, words) => {
  const server = await startServer()
  const provider = providerFor(server, { settings: { dkim: { ...dkim, privateKey: brokenKey } } })
  const result = await send(provider)
  expect(result).toMatchObject({
    kind: 'rejected',
    failure: 'sender',
    evidence: { phase: 'connect', reply: expect.stringMatching(words) as string },
  })
  expect(JSON.stringify(result)).not.toContain(brokenKey.split('\n')[1])
  expect(server.connections).toBe(0)
})
