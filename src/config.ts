import { existsSync, readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'
import { parseBrokerUrl } from './brokers/parse-broker-url.js'
import { parseMailbox } from './domain/address.js'
import { BATCH_SIZES } from './domain/campaign.js'
import { findClosest } from './domain/did-you-mean.js'
import { formatDurationMs, parseDurationMs } from './domain/duration.js'
import type { Mailbox } from './domain/message.js'
import { RETRY_POLICIES, type RetryPolicies, type RetryPolicy, type RetryPolicyName } from './domain/retry.js'
import { PostriderError } from './errors.js'
import { LOG_LEVELS, type LogLevel } from './log.js'
import { isPrivateKey } from './secret-box.js'
import { type Setting, SETTING_NAMES, type SettingName, SETTINGS } from './settings.js'
import { parseSmtpUrl } from './providers/parse-smtp-url.js'

/**
 * The settings: environment first, then `.env`, then the default. `X_FILE` reads a value from a file, for secrets that
 * are mounted. Every setting is checked when the process starts: a wrong one stops it with a sentence, before any mail.
 */
export interface Config {
  /** All of them as they take effect, for people to read. */
  readonly settings: readonly ShownSetting[]
  readonly databaseUrl: string | null
  readonly dataDirectory: string
  readonly brokerUrl: string | null
  readonly workerConcurrency: number
  readonly leaseMs: number
  readonly sweepMs: number
  readonly retentionMs: number
  readonly batchSize: number
  readonly retryPolicies: RetryPolicies
  readonly smtpUrl: string | null
  readonly dkim: { readonly domain: string; readonly selector: string; readonly privateKey: string } | null
  readonly mailFrom: Mailbox
  readonly host: string
  readonly port: number
  readonly publicUrl: string
  readonly secret: string | null
  readonly apiKey: string | null
  readonly adminPassword: string | null
  readonly cronSecret: string | null
  readonly rateLimit: number
  readonly inlineDeadlineMs: number
  readonly logLevel: LogLevel
}

export interface ShownSetting {
  readonly name: string
  readonly value: string
  readonly source: string
}

export type Environment = Readonly<Record<string, string | undefined>>

/** The environment with `.env` of the working directory under it. */
export function readEnvironment(environment: Environment, file = '.env'): Environment {
  return existsSync(file) ? { ...parseEnv(readFileSync(file, 'utf8')), ...environment } : environment
}

export function parseConfig(environment: Environment): Config {
  refuseUnknown(environment)
  const text = (name: SettingName) => readSetting(environment, name)
  return {
    settings: describeConfig(environment),
    databaseUrl: readDatabaseUrl('DATABASE_URL', text('DATABASE_URL')),
    dataDirectory: text('POSTRIDER_DATA'),
    brokerUrl: parseBrokerSetting(text('BROKER_URL')),
    workerConcurrency: whole('WORKER_CONCURRENCY', text('WORKER_CONCURRENCY'), 1, 10_000),
    leaseMs: whole('LEASE_SECONDS', text('LEASE_SECONDS'), 5, 3_600) * 1_000,
    sweepMs: whole('SWEEP_SECONDS', text('SWEEP_SECONDS'), 1, 3_600) * 1_000,
    retentionMs: whole('RETENTION_DAYS', text('RETENTION_DAYS'), 1, 3_650) * 86_400_000,
    batchSize: whole('BATCH_SIZE', text('BATCH_SIZE'), BATCH_SIZES.least, BATCH_SIZES.most),
    retryPolicies: parsePolicies(environment),
    smtpUrl: parseSmtpSetting(text('SMTP_URL')),
    dkim: parseDkim(text('DKIM_DOMAIN'), text('DKIM_SELECTOR'), text('DKIM_PRIVATE_KEY')),
    mailFrom: readMailFrom('MAIL_FROM', text('MAIL_FROM')),
    host: text('HOST'),
    port: whole('PORT', text('PORT'), 0, 65_535),
    publicUrl: parsePublicUrl(text('PUBLIC_URL')) ?? `http://${text('HOST')}:${text('PORT')}`,
    secret: longEnough('POSTRIDER_SECRET', text('POSTRIDER_SECRET')),
    apiKey: longEnough('POSTRIDER_API_KEY', text('POSTRIDER_API_KEY')),
    adminPassword: text('POSTRIDER_ADMIN_PASSWORD') || null,
    cronSecret: longEnough('CRON_SECRET', text('CRON_SECRET')),
    rateLimit: whole('RATE_LIMIT', text('RATE_LIMIT'), 1, 100_000),
    inlineDeadlineMs: whole('INLINE_DEADLINE_SECONDS', text('INLINE_DEADLINE_SECONDS'), 1, 60) * 1_000,
    logLevel: oneOf('LOG_LEVEL', text('LOG_LEVEL'), LOG_LEVELS),
  }
}

/** Every setting as it takes effect, with secrets blotted out, for people to read. */
export function describeConfig(environment: Environment): ShownSetting[] {
  return SETTING_NAMES.map((name) => {
    const source = environment[`${name}_FILE`] ? 'file' : environment[name] ? 'set' : 'default'
    const value = readSetting(environment, name)
    const setting: Setting = SETTINGS[name]
    return { name, value: redact(value, setting.secret), source }
  })
}

// Up to the last @, since a password may have one unescaped; and pg also takes a password from the query.
const redact = (value: string, secret: Setting['secret']): string => {
  if (secret === 'whole') return value && '***'
  if (secret !== 'url') return value
  return value.replace(/\/\/([^:@/]*):.*@/, '//$1:***@').replace(/([?&]\w*password=)[^&]*/gi, '$1***')
}

const SHORTEST_SECRET = 16

function longEnough(name: SettingName, text: string): string | null {
  if (text === '') return null
  // What is sent in a header is ended by a space.
  const wrong = name !== 'POSTRIDER_SECRET' && /\s/.test(text)
  if (text.length >= SHORTEST_SECRET && !wrong) return text
  throw new PostriderError(
    'setting_invalid',
    `${name} must have at least ${SHORTEST_SECRET} characters${wrong ? ', and no spaces' : ''}.`,
  )
}

/** As it is written in a setting, or taken apart as the library takes it too. */
export function readMailFrom(name: string, given: string | Mailbox): Mailbox {
  // Not everybody has a compiler.
  const text: unknown = typeof given === 'string' ? given : given.address
  const mailbox = typeof text === 'string' ? parseMailbox(text) : null
  if (!mailbox) throw invalid(name, given, 'one address such as Ada <ada@example.com>')
  return typeof given === 'string' ? mailbox : { ...mailbox, name: given.name }
}

function parseBrokerSetting(text: string): string | null {
  if (text === '') return null
  parseBrokerUrl(text)
  return text
}

function parseSmtpSetting(text: string): string | null {
  if (text === '') return null
  try {
    parseSmtpUrl(text)
    return text
  } catch (error) {
    // Its sentences never repeat the URL, which has a password in it.
    throw new PostriderError('setting_invalid', `SMTP_URL cannot be used. ${(error as Error).message}`)
  }
}

function parseDkim(domain: string, selector: string, key: string): Config['dkim'] {
  if (domain === '' && selector === '' && key === '') return null
  if (domain === '' || selector === '' || key === '')
    throw new PostriderError(
      'setting_invalid',
      'DKIM_DOMAIN, DKIM_SELECTOR and DKIM_PRIVATE_KEY belong together: set all three or none.',
    )
  // In an environment variable line breaks are often written as \\n.
  const privateKey = key.replaceAll(String.raw`\n`, '\n')
  if (!isPrivateKey(privateKey))
    throw new PostriderError('setting_invalid', 'DKIM_PRIVATE_KEY must be a private key in PEM.')
  return { domain, selector, privateKey }
}

function parsePublicUrl(text: string): string | null {
  if (text === '') return null
  // Paths are written behind it, and would become part of a query or a fragment.
  if (/^https?:\/\/[^?#]+$/.test(text) && URL.canParse(text)) return text.replace(/\/+$/, '')
  throw invalid('PUBLIC_URL', text, 'a URL such as https://mail.example.com/post, without a query or a fragment')
}

function readSetting(environment: Environment, name: SettingName): string {
  const file = environment[`${name}_FILE`]
  if (file) {
    try {
      return readFileSync(file, 'utf8').trim()
    } catch (error) {
      throw invalid(`${name}_FILE`, file, `a file that can be read (${(error as Error).message})`)
    }
  }
  return environment[name]?.trim() || SETTINGS[name].fallback
}

/** Nobody waits longer for an email, and the database has no dates for what is far longer. */
const LONGEST_WAIT_MS = 365 * 86_400_000

function parsePolicies(environment: Environment): RetryPolicies {
  const parse = (name: RetryPolicyName): RetryPolicy => {
    const suffix = name.toUpperCase() as Uppercase<RetryPolicyName>
    const waitsName = `RETRY_${suffix}` as const
    const text = readSetting(environment, waitsName)
    const waitsMs = text.split(',').map((part) => {
      const wait = parseDurationMs(part)
      if (part.trim() === '')
        throw invalid(waitsName, text, 'waits such as 30s,5m,1h: there is nothing beside one of the commas')
      if (wait === null) throw invalid(waitsName, part, 'waits such as 30s,5m,1h')
      if (wait > LONGEST_WAIT_MS)
        throw invalid(waitsName, part.trim(), `waits of at most ${formatDurationMs(LONGEST_WAIT_MS)} each`)
      return wait
    })
    const maxName = `MAX_ATTEMPTS_${suffix}` as const
    const maxAttempts = whole(maxName, readSetting(environment, maxName), 1, 100)
    return { ...RETRY_POLICIES[name], waitsMs, maxAttempts }
  }
  return { outreach: parse('outreach'), transactional: parse('transactional'), standard: parse('standard') }
}

/** Null: the embedded database. Never repeated in the refusal, since it may have a password in it. */
export function readDatabaseUrl(name: string, text: unknown): string | null {
  if (text === '') return null
  if (typeof text === 'string' && /^postgres(ql)?:\/\//.test(text) && URL.canParse(text)) return text
  throw new PostriderError(
    'setting_invalid',
    `${name} must be a URL like postgres://user:password@host:5432/database. Leave it empty for the embedded database.`,
  )
}

function whole(name: SettingName, text: string, least: number, most: number): number {
  const value = Number(text)
  if (!/^\d+$/.test(text) || value < least || value > most)
    throw invalid(name, text, `a whole number from ${least} to ${most}`)
  return value
}

function oneOf<T extends string>(name: SettingName, text: string, allowed: readonly T[]): T {
  if ((allowed as readonly string[]).includes(text)) return text as T
  const closest = findClosest(text, allowed)
  throw invalid(name, text, `one of ${allowed.join(', ')}${closest ? `. Did you mean "${closest}"?` : ''}`)
}

const invalid = (name: string, value: unknown, wanted: string) =>
  new PostriderError('setting_invalid', `${name} is ${JSON.stringify(value)}; it must be ${wanted}`)

/** Only names in our own space can be mistakes: the environment is full of other people's variables. */
function refuseUnknown(environment: Environment): void {
  const ours =
    /^(POSTRIDER|RETRY|MAX_ATTEMPTS|LEASE|SWEEP|RETENTION|WORKER_CONC|BROKER|SMTP_URL|MAIL_FROM|CRON_SECRET|DKIM|RATE_LIMIT|INLINE_DEADLINE)[A-Z_]*$/
  for (const name of Object.keys(environment)) {
    const base = name.replace(/_FILE$/, '')
    if (!ours.test(name) || SETTING_NAMES.includes(base as SettingName) || isServiceLink(name, environment[name]))
      continue
    const closest = SETTING_NAMES.find((known) => base === `POSTRIDER_${known}`) ?? findClosest(base, SETTING_NAMES)
    if (name.startsWith('POSTRIDER_') || closest)
      throw new PostriderError(
        'setting_unknown',
        `${name} is not a setting of Postrider.${closest ? ` Did you mean ${closest}?` : ' "postrider config" lists them.'}`,
      )
  }
}

/**
 * Kubernetes tells every pod where the Services of its namespace are, and one of them is likely to be called postrider.
 * Its `…_PORT` is a URL, so that a number in there is still somebody's mistake for PORT.
 */
function isServiceLink(name: string, value: string | undefined): boolean {
  if (name.endsWith('_PORT') && !name.endsWith('_SERVICE_PORT')) return /^(tcp|udp|sctp):\/\//.test(value ?? '')
  return /_SERVICE_(HOST|PORT(_[A-Z_]+)?)$/.test(name)
}
