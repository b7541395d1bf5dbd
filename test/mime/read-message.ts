import PostalMime, { decodeWords } from 'postal-mime'
import type { Address, Email } from 'postal-mime'
import { expect } from 'vitest'
import { foldAddress } from '../../src/domain/address.js'
import type { Mailbox, Message } from '../../src/domain/message.js'

/** What a reader sees of an email, in a form that can be compared. */
export async function readMessage(bytes: Buffer) {
  const email = await PostalMime.parse(bytes)
  return {
    from: email.from && readMailbox(email.from),
    to: email.to?.map(readMailbox) ?? [],
    cc: email.cc?.map(readMailbox) ?? [],
    bcc: email.bcc?.map(readMailbox) ?? [],
    replyTo: email.replyTo?.map(readMailbox) ?? [],
    subject: email.subject ?? '',
    date: email.date,
    messageId: email.messageId,
    text: toLines(email.text),
    html: toLines(email.html),
    headers: readCustomHeaders(email),
    attachments: email.attachments.map((attachment) => ({
      filename: attachment.filename,
      mimeType: attachment.mimeType,
      disposition: attachment.disposition,
      contentId: attachment.contentId,
      method: attachment.method,
      content: Buffer.from(attachment.content as ArrayBuffer).toString('base64'),
    })),
  }
}

/** What a reader must see of a message that is text, html, or both. */
export function seenOf(message: Message): Awaited<ReturnType<typeof readMessage>> {
  return {
    from: seenMailbox(message.from),
    to: message.to.map(seenMailbox),
    cc: message.cc.map(seenMailbox),
    bcc: [],
    replyTo: message.replyTo.map(seenMailbox),
    subject: message.subject.trim(),
    date: new Date(Math.floor(message.date.getTime() / 1_000) * 1_000).toISOString(),
    messageId: message.messageId,
    text: toLines(message.text ?? undefined),
    html: toLines(message.html ?? undefined),
    headers: Object.fromEntries(
      Object.entries(message.headers).map(([name, value]) => [name.toLowerCase(), value.trim()]),
    ),
    attachments: [],
  }
}

function readMailbox({ name, address }: Address) {
  return { name, address: foldAddress(address ?? '') }
}

function seenMailbox({ name, address }: Mailbox) {
  return { name: name?.trim() ?? '', address: foldAddress(address) }
}

/** Newlines are normalised on the way, and one at the end is neither here nor there. */
export function toLines(text: string | undefined): string[] {
  return (text ?? '')
    .replaceAll(/\r\n?|\n/g, '\n')
    .replace(/\n+$/, '')
    .split('\n')
}

const OURS = /^(?:from|to|cc|bcc|reply-to|subject|date|message-id|mime-version|content-.*)$/

function readCustomHeaders(email: Email): Record<string, string> {
  const custom = email.headers.filter(({ key }) => !OURS.test(key))
  return Object.fromEntries(custom.map(({ key, value }) => [key, decodeWords(value)]))
}

/** The names of the header lines as they stand there, found without any parser. */
export function headerNames(bytes: Buffer): string[] {
  const lines = bytes.toString('latin1').split('\r\n\r\n')[0]!.split('\r\n')
  return lines.filter((line) => !/^[ \t]/.test(line)).map((line) => line.slice(0, line.indexOf(':')))
}

export function expectedNames(message: Message): string[] {
  return [
    'From',
    ...(message.to.length > 0 ? ['To'] : []),
    ...(message.cc.length > 0 ? ['Cc'] : []),
    ...(message.replyTo.length > 0 ? ['Reply-To'] : []),
    ...(message.subject.trim() === '' ? [] : ['Subject']),
    'Date',
    'Message-ID',
    ...Object.keys(message.headers),
    'MIME-Version',
    'Content-Type',
  ]
}

/** What every server on the way may rely on, whatever the message says. */
export function expectSoundBytes(bytes: Buffer, message: Message): void {
  const raw = bytes.toString('latin1')
  expect(raw).toMatch(/^[\t\r\n\x20-\x7e]*$/)
  expect(raw).not.toMatch(/\r(?!\n)|(?<!\r)\n/)
  expect(raw.endsWith('\r\n')).toBe(true)
  for (const line of raw.split('\r\n')) expect(line.length).toBeLessThanOrEqual(998)
  const [head] = raw.split('\r\n\r\n')
  for (const line of head!.split('\r\n')) expect(line).toMatch(/^(?:[A-Za-z0-9][\w-]*:| )(?=.*\S)/)
  for (const [encodedWord, encoding, content] of head!.matchAll(/=\?utf-8\?([QB])\?(.*?)\?=/g)) {
    expect(encodedWord.length).toBeLessThanOrEqual(75)
    const octets = encoding === 'B' ? Buffer.from(content!, 'base64') : fromQ(content!)
    // Throws if the word ends inside a character.
    new TextDecoder('utf-8', { fatal: true }).decode(octets)
  }
  const names = headerNames(bytes).filter((name) => !/^Content-(?:Transfer-Encoding|Disposition|ID)$/.test(name))
  expect(names).toEqual(expectedNames(message))
  expect(raw).not.toContain('secret@hidden.example')
}

function fromQ(content: string): Buffer {
  const hex = content
    .replaceAll('_', ' ')
    .replaceAll(
      /=(..)|(.)/g,
      (_, pair: string | undefined, character: string) => pair ?? character.charCodeAt(0).toString(16).padStart(2, '0'),
    )
  return Buffer.from(hex, 'hex')
}
