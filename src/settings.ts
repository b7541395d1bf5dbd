import { BATCH_SIZES } from './domain/campaign.js'
import { formatDurationMs } from './domain/duration.js'
import { RETRY_POLICIES, type RetryPolicyName } from './domain/retry.js'
import { LOG_LEVELS } from './log.js'

/** Every setting there is: the one table behind `postrider config`, the docs and what a mistyped name is compared with. */
export interface Setting {
  /** One sentence: what it does, and which failure its size trades against. */
  readonly help: string
  readonly fallback: string
  /** Blotted out when shown: a URL's password only, or all of it. */
  readonly secret?: 'url' | 'whole'
}

const waits = (name: RetryPolicyName) => RETRY_POLICIES[name].waitsMs.map(formatDurationMs).join(',')

export const SETTINGS = {
  DATABASE_URL: {
    help: 'A PostgreSQL 15 or newer to use; without it the embedded database in POSTRIDER_DATA.',
    fallback: '',
    secret: 'url',
  },
  POSTRIDER_DATA: {
    help: 'Directory of the embedded database; one process owns it at a time.',
    fallback: './.postrider',
  },
  BROKER_URL: {
    help: 'Redis (redis://…, with BullMQ) or RabbitMQ (amqp://…) to tell workers what is due; without it they look for themselves. ?prefix=shop keeps two installations apart.',
    fallback: '',
    secret: 'url',
  },
  SMTP_URL: {
    help: 'The mail server of the default sender, smtp://user:password@host:587 or smtps://…; without it the dev inbox keeps every email.',
    fallback: '',
    secret: 'url',
  },
  DKIM_DOMAIN: {
    help: 'Domain the default sender signs for with DKIM; with the two below, or not at all.',
    fallback: '',
  },
  DKIM_SELECTOR: { help: 'Selector of the DKIM key.', fallback: '' },
  DKIM_PRIVATE_KEY: {
    help: 'The DKIM private key in PEM, RSA or Ed25519; best given as DKIM_PRIVATE_KEY_FILE.',
    fallback: '',
    secret: 'whole',
  },
  MAIL_FROM: { help: 'Who the default sender is.', fallback: 'Postrider <hello@localhost>' },
  HOST: { help: 'Address the HTTP server listens on.', fallback: '127.0.0.1' },
  PORT: { help: 'Port the HTTP server listens on, 0 to 65535; 0 takes any that is free.', fallback: '3400' },
  PUBLIC_URL: {
    help: 'Where links in emails lead to and the dashboard is reached; http://HOST:PORT unless set.',
    fallback: '',
  },
  POSTRIDER_SECRET: {
    help: 'Seals stored credentials and signs links; made in POSTRIDER_DATA with the embedded database, needed with DATABASE_URL. At least 16 characters.',
    fallback: '',
    secret: 'whole',
  },
  POSTRIDER_API_KEY: {
    help: 'An API key of the workspace "default" with all scopes, at least 16 characters.',
    fallback: '',
    secret: 'whole',
  },
  POSTRIDER_ADMIN_PASSWORD: {
    help: 'What the user admin of the dashboard logs in with; without it a link to choose a password is printed at the start.',
    fallback: '',
    secret: 'whole',
  },
  CRON_SECRET: {
    help: 'Bearer of /api/cron/send-emails, which answers 404 without it; at least 16 characters.',
    fallback: '',
    secret: 'whole',
  },
  RATE_LIMIT: {
    help: 'Requests per second of one API key, 1 to 100000. A key that runs wild is stopped before the others suffer.',
    fallback: '1000',
  },
  INLINE_DEADLINE_SECONDS: {
    help: 'How long an inline email may keep its caller waiting, 1 to 60. Then it goes out in the background.',
    fallback: '10',
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
  BATCH_SIZE: {
    help: 'How many people a campaign plans at a time, 1 to 10000. Larger plans faster; smaller lets two campaigns take turns more often.',
    fallback: String(BATCH_SIZES.default),
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
export const SETTING_NAMES = Object.keys(SETTINGS) as SettingName[]
