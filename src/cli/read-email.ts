import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { text as readAll } from 'node:stream/consumers'
import type { NewEmail } from '../domain/new-email.js'
import type { Problem } from '../errors.js'
import { CommandError, USAGE } from './command-error.js'

/** The flags of `send` that make up the email. */
export interface EmailFlags {
  readonly to?: readonly string[]
  readonly cc?: readonly string[]
  readonly bcc?: readonly string[]
  readonly replyTo?: readonly string[]
  readonly from?: string
  readonly subject?: string
  readonly text?: string
  readonly html?: string
  readonly textFile?: string
  readonly htmlFile?: string
  readonly attach?: readonly string[]
  readonly header?: readonly string[]
  readonly schedule?: string
  readonly inline?: true
}

/** Reads the files it names. Whether it is a good email is for the operation to say; here only what cannot be read. */
export async function readEmail(flags: EmailFlags): Promise<NewEmail> {
  const problems: Problem[] = []
  const attempt = async <T>(path: Problem['path'], read: () => T | Promise<T>): Promise<T | undefined> => {
    try {
      return await read()
    } catch (error) {
      problems.push({ path, detail: (error as Error).message })
      return undefined
    }
  }
  const text = await attempt(['text'], () => readBody('text', flags.text, flags.textFile, [flags.html, flags.htmlFile]))
  const html = await attempt(['html'], () => readBody('html', flags.html, flags.htmlFile, [flags.text, flags.textFile]))
  const attachments = await Promise.all(
    (flags.attach ?? []).map((file, i) => attempt(['attachments', i], () => readAttachment(file))),
  )
  const headers = await Promise.all(
    (flags.header ?? []).map((line, i) => attempt(['headers', i], () => readHeader(line))),
  )
  if (problems.length > 0) throw refusal(problems)
  return {
    to: flags.to ?? [],
    // Its absence is one of the problems that sending reports, together with all others.
    subject: flags.subject as string,
    ...(flags.cc && { cc: flags.cc }),
    ...(flags.bcc && { bcc: flags.bcc }),
    ...(flags.replyTo && { replyTo: flags.replyTo }),
    ...(flags.from !== undefined && { from: flags.from }),
    ...(text !== undefined && { text }),
    ...(html !== undefined && { html }),
    ...(attachments.length > 0 && { attachments: attachments.filter((each) => each !== undefined) }),
    ...(headers.length > 0 && { headers: Object.fromEntries(headers.filter((each) => each !== undefined)) }),
    ...(flags.schedule !== undefined && { scheduledAt: flags.schedule }),
    ...(flags.inline && { delivery: 'inline' }),
  }
}

const STANDARD_INPUT = '-'

async function readBody(
  part: 'text' | 'html',
  given: string | undefined,
  file: string | undefined,
  other: readonly (string | undefined)[],
): Promise<string | undefined> {
  if (given !== undefined && file !== undefined) throw new Error(`give it once, as --${part} or as --${part}-file`)
  if (given !== STANDARD_INPUT && file !== STANDARD_INPUT) return file === undefined ? given : readFile(file, 'utf8')
  if (other.includes(STANDARD_INPUT)) throw new Error('only one of text and html can come from standard input')
  return readAll(process.stdin)
}

const readAttachment = async (file: string) => ({ filename: basename(file), content: await readFile(file) })

function readHeader(line: string): [name: string, value: string] {
  const colon = line.indexOf(':')
  if (colon < 1) throw new Error(`${JSON.stringify(line)} must be written as 'Name: value'`)
  return [line.slice(0, colon).trim(), line.slice(colon + 1).trim()]
}

const FLAG_NAMES: Readonly<Record<string, string>> = {
  replyTo: '--reply-to',
  headers: '--header',
  attachments: '--attach',
  scheduledAt: '--schedule',
  idempotencyKey: '--idempotency-key',
}

/** All that is wrong, a line each, by the flag it was given with. */
export const refusal = (problems: readonly Problem[]): CommandError =>
  new CommandError(
    USAGE,
    ['The email cannot be sent:', ...problems.map(({ path, detail }) => `  ${flagOf(path)}: ${detail}`)].join('\n'),
  )

const flagOf = ([first, ...rest]: Problem['path']) => {
  const flag = FLAG_NAMES[String(first)] ?? `--${String(first)}`
  return [flag, ...rest.map((part) => (typeof part === 'number' ? `#${part + 1}` : part))].join(' ')
}
