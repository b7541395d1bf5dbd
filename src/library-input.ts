import { readDatabaseUrl } from './config.js'
import { FIELDS_OF_EMAIL, type NewEmail } from './domain/new-email.js'
import { type FieldProblem, type Path, readFields, suggest } from './domain/read-fields.js'
import { sayProblems } from './domain/say-problem.js'
import { PostriderError } from './errors.js'
import type { PostriderOptions } from './postrider.js'

/**
 * What the library's users give, by name. Not everybody has a compiler, and the compiler lets through what was spread:
 * a mistyped `databaseUrl` opened an embedded database, a `reply_to` was left out of every email.
 */
const OPTIONS = Object.keys({
  databaseUrl: true,
  dataDirectory: true,
  attach: true,
  migrate: true,
  handlers: true,
  workspaceId: true,
  concurrency: true,
  leaseMs: true,
  sweepMs: true,
  retentionMs: true,
  batchSize: true,
  random: true,
  retryPolicies: true,
  brokerUrl: true,
  maxConnections: true,
  smtpUrl: true,
  mailServers: true,
  dkim: true,
  mailFrom: true,
  secret: true,
  publicUrl: true,
  apiKey: true,
  adminPassword: true,
  cronSecret: true,
  rateLimit: true,
  inlineDeadlineMs: true,
  onCrash: true,
  log: true,
  now: true,
  settings: true,
  dashboardDirectory: true,
  smtpTimeouts: true,
} satisfies Record<keyof PostriderOptions, true>)

export function checkOptions(options: PostriderOptions): void {
  if (typeof options !== 'object' || options === null)
    throw new PostriderError('setting_invalid', 'createPostrider takes an object, such as { databaseUrl }, or nothing.')
  for (const name of Object.keys(options))
    if (!OPTIONS.includes(name))
      throw new PostriderError(
        'setting_unknown',
        `${name} is not an option of createPostrider${suggest(name, OPTIONS)}.`,
      )
  readDatabaseUrl('databaseUrl', options.databaseUrl ?? '')
}

/** Of one email, or of those of a batch, which are numbered. */
export function checkEmails(emails: readonly NewEmail[], { batch }: { readonly batch: boolean }): void {
  const problems: FieldProblem[] = []
  const check = (value: unknown, known: readonly string[], path: Path) =>
    readFields(value, known, path, (where, detail) => void problems.push({ path: where, detail }))
  for (const [index, email] of emails.entries()) {
    const root = batch ? [index] : []
    if (!check(email, FIELDS_OF_EMAIL.email, root)) continue
    const { attachments, tags, template, calendar } = email
    if (Array.isArray(attachments))
      for (const [place, each] of attachments.entries())
        check(each, FIELDS_OF_EMAIL.attachment, [...root, 'attachments', place])
    if (Array.isArray(tags))
      for (const [place, each] of tags.entries()) check(each, FIELDS_OF_EMAIL.tag, [...root, 'tags', place])
    if (template !== undefined) check(template, FIELDS_OF_EMAIL.template, [...root, 'template'])
    if (
      calendar !== undefined &&
      check(calendar, FIELDS_OF_EMAIL.calendar, [...root, 'calendar']) &&
      'event' in calendar
    )
      check(calendar.event, FIELDS_OF_EMAIL.event, [...root, 'calendar', 'event'])
  }
  if (problems.length > 0) throw emailsRefused(problems)
}

/** What stands beside an email. A key given in the wrong place would not keep a second one from being sent. */
export function checkSendOptions(options: object, known: readonly string[]): void {
  const problems: FieldProblem[] = []
  readFields(options, known, ['options'], (path, detail) => void problems.push({ path, detail }))
  if (problems.length > 0) throw emailsRefused(problems)
}

const emailsRefused = (problems: readonly FieldProblem[]) =>
  new PostriderError('email_invalid', `The email cannot be sent: ${sayProblems(problems, 'emails')}.`, { problems })
