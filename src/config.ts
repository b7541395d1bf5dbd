import { existsSync, readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'
import { findClosest } from './domain/did-you-mean.js'
import { formatDurationMs, parseDurationMs } from './domain/duration.js'
import { RETRY_POLICIES, type RetryPolicies, type RetryPolicy, type RetryPolicyName } from './domain/retry.js'
import { PostriderError } from './errors.js'
import { LOG_LEVELS, type LogLevel } from './log.js'

/**
 * The settings: environment first, then `.env`, then the default. `X_FILE` reads a value from a file, for secrets that
 * are mounted. Every setting is checked when the process starts: a wrong one stops it with a sentence, before any mail.
 */
export interface Config {
  readonly databaseUrl: string | null
  readonly dataDirectory: string
  readonly workerConcurrency: number
  readonly leaseMs: number
  readonly sweepMs: number
  readonly retentionMs: number
  readonly retryPolicies: RetryPolicies
  readonly logLevel: LogLevel
}

interface Setting {
  /** One sentence: what it does, and which failure its size trades against. */
  readonly help: string
  readonly fallback: string
  readonly secret?: true
}

const waits = (name: RetryPolicyName) => RETRY_POLICIES[name].waitsMs.map(formatDurationMs).join(',')

export const SETTINGS = {
  DATABASE_URL: {
    help: 'A PostgreSQL 15 or newer to use; without it the embedded database in POSTRIDER_DATA.',
    fallback: '',
    secret: true,
  },
  POSTRIDER_DATA: {
    help: 'Directory of the embedded database; one process owns it at a time.',
    fallback: './.postrider',
  },
  WORKER_CONCURRENCY: { help: 'Actions under way at once in one worker, 1 to 10000.', fallback: '20' },
  LEASE_SECONDS: {
    help: 'How long a silent worker keeps what it claimed, 5 to 3600. Shorter finds a dead worker sooner; too short takes work from one that is only slow.',
    fallback: '60',
  },
  SWEEP_SECONDS: { help: 'How often expired leases and lost hints are looked for, 1 to 3600.', fallback: '5' },
  RETENTION_DAYS: {
    help: 'How long finished actions are kept, 1 to 3650. Their keys are kept as long.',
    fallback: '90',
  },
  RETRY_OUTREACH: { help: 'Waits of the outreach policy, separated by commas.', fallback: waits('outreach') },
  RETRY_TRANSACTIONAL: { help: 'Waits of the transactional policy.', fallback: waits('transactional') },
  RETRY_STANDARD: { help: 'Waits of the standard policy.', fallback: waits('standard') },
  MAX_ATTEMPTS_OUTREACH: { help: 'Attempts of the outreach policy, the first included.', fallback: '4' },
  MAX_ATTEMPTS_TRANSACTIONAL: { help: 'Attempts of the transactional policy.', fallback: '5' },
  MAX_ATTEMPTS_STANDARD: { help: 'Attempts of the standard policy.', fallback: '8' },
  LOG_LEVEL: { help: `One of ${LOG_LEVELS.join(', ')}.`, fallback: 'info' },
} as const satisfies Record<string, Setting>

export type SettingName = keyof typeof SETTINGS
const NAMES = Object.keys(SETTINGS) as SettingName[]

export type Environment = Readonly<Record<string, string | undefined>>

/** The environment with `.env` of the working directory under it. */
export function readEnvironment(environment: Environment, file = '.env'): Environment {
  return existsSync(file) ? { ...parseEnv(readFileSync(file, 'utf8')), ...environment } : environment
}

export function parseConfig(environment: Environment): Config {
  refuseUnknown(environment)
  const text = (name: SettingName) => readSetting(environment, name)
  return {
    databaseUrl: parseDatabaseUrl(text('DATABASE_URL')),
    dataDirectory: text('POSTRIDER_DATA'),
    workerConcurrency: whole('WORKER_CONCURRENCY', text('WORKER_CONCURRENCY'), 1, 10_000),
    leaseMs: whole('LEASE_SECONDS', text('LEASE_SECONDS'), 5, 3_600) * 1_000,
    sweepMs: whole('SWEEP_SECONDS', text('SWEEP_SECONDS'), 1, 3_600) * 1_000,
    retentionMs: whole('RETENTION_DAYS', text('RETENTION_DAYS'), 1, 3_650) * 86_400_000,
    retryPolicies: parsePolicies(environment),
    logLevel: oneOf('LOG_LEVEL', text('LOG_LEVEL'), LOG_LEVELS),
  }
}

/** Every setting as it takes effect, with secrets blotted out, for people to read. */
export function describeConfig(environment: Environment): { name: string; value: string; source: string }[] {
  return NAMES.map((name) => {
    const source = environment[`${name}_FILE`] ? 'file' : environment[name] ? 'set' : 'default'
    const value = readSetting(environment, name)
    return { name, value: redact(value, 'secret' in SETTINGS[name]), source }
  })
}

// Up to the last @, since a password may have one unescaped; and pg also takes a password from the query.
const redact = (value: string, secret: boolean): string =>
  secret ? value.replace(/\/\/([^:@/]*):.*@/, '//$1:***@').replace(/([?&]\w*password=)[^&]*/gi, '$1***') : value

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

function parsePolicies(environment: Environment): RetryPolicies {
  const parse = (name: RetryPolicyName): RetryPolicy => {
    const suffix = name.toUpperCase() as Uppercase<RetryPolicyName>
    const waitsName = `RETRY_${suffix}` as const
    const waitsMs = readSetting(environment, waitsName)
      .split(',')
      .map((part) => {
        const wait = parseDurationMs(part)
        if (wait === null) throw invalid(waitsName, part, 'waits such as 30s,5m,1h')
        return wait
      })
    const maxName = `MAX_ATTEMPTS_${suffix}` as const
    const maxAttempts = whole(maxName, readSetting(environment, maxName), 1, 100)
    return { ...RETRY_POLICIES[name], waitsMs, maxAttempts }
  }
  return { outreach: parse('outreach'), transactional: parse('transactional'), standard: parse('standard') }
}

function parseDatabaseUrl(text: string): string | null {
  if (!text) return null
  if (/^postgres(ql)?:\/\//.test(text) && URL.canParse(text)) return text
  throw new PostriderError(
    'setting_invalid',
    'DATABASE_URL must be a URL like postgres://user:password@host:5432/database. Leave it empty for the embedded database.',
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

const invalid = (name: string, value: string, wanted: string) =>
  new PostriderError('setting_invalid', `${name} is ${JSON.stringify(value)}; it must be ${wanted}`)

/** Only names in our own space can be mistakes: the environment is full of other people's variables. */
function refuseUnknown(environment: Environment): void {
  const ours = /^(POSTRIDER|RETRY|MAX_ATTEMPTS|LEASE|SWEEP|RETENTION|WORKER_CONC)[A-Z_]*$/
  for (const name of Object.keys(environment)) {
    const base = name.replace(/_FILE$/, '')
    if (!ours.test(name) || NAMES.includes(base as SettingName)) continue
    const closest = findClosest(base, NAMES)
    if (name.startsWith('POSTRIDER_') || closest)
      throw new PostriderError(
        'setting_unknown',
        `${name} is not a setting of Postrider.${closest ? ` Did you mean ${closest}?` : ' "postrider config" lists them.'}`,
      )
  }
}
