import { insertCapturedEmails } from './db/captured-emails.js'
import type { Database } from './db/client.js'
import type { Sender } from './db/senders.js'
import type { SenderCredentials } from './domain/sender-credentials.js'
import { PostriderError } from './errors.js'
import { groupCommit } from './group-commit.js'
import type { Log } from './log.js'
import { composeMessage } from './mime/compose-message.js'
import { createCaptureProvider, type Captured } from './providers/capture.js'
import { parseSmtpUrl } from './providers/parse-smtp-url.js'
import type { Provider } from './providers/provider.js'
import { createSmtpProvider, type SmtpProviderOptions } from './providers/smtp.js'
import type { SmtpSettings } from './providers/smtp-settings.js'
import { isPrivateKey, type SecretBox } from './secret-box.js'

/** The providers of all senders this process sends for. Senders without credentials of their own share one. */
export interface Providers {
  /** Null when this process cannot send for it: its mail goes by SMTP, and here SMTP_URL is not set. */
  of(sender: Sender): Provider | null
  /** Throws a sentence about what is wrong with them. */
  check(credentials: SenderCredentials): void
  close(): Promise<void>
  /** Ends conversations where they are. */
  cutShort(): void
}

export interface ProvidersOptions {
  readonly db: Database
  readonly log: Log
  /** Of the settings; null: the dev inbox. */
  readonly smtp: SmtpSettings | null
  readonly secretBox: () => SecretBox
  /** The only ones there may be, as host:port; absent: any. */
  readonly mailServers?: readonly string[] | undefined
  readonly timeouts?: SmtpProviderOptions['timeouts']
}

const CAPTURED_TOGETHER = 100

export function composeProviders({ db, log, smtp, secretBox, mailServers, timeouts }: ProvidersOptions): Providers {
  const keep = groupCommit<Captured, void>(
    async (captured) => {
      await insertCapturedEmails(db, captured)
      return captured.map(() => undefined)
    },
    { maxItems: CAPTURED_TOGETHER, maxFlushes: 2 },
  )
  const capture = createCaptureProvider({ compose: composeMessage, keep })
  // Asked again for every provider that is made: however its sender was stored, nothing leads to another server.
  const makeSmtp = (settings: SmtpSettings) =>
    createSmtpProvider(requireAllowed(settings, mailServers), composeMessage, { log, ...(timeouts && { timeouts }) })
  const configured = smtp === null ? capture : makeSmtp(smtp)
  /** By sender, with the credentials it was made for: changed ones make a new one. */
  const own = new Map<string, { credentials: string; provider: Provider }>()
  const all = () => [capture, configured, ...[...own.values()].map(({ provider }) => provider)]

  return {
    of({ id, provider, credentials }) {
      if (provider === 'capture') return capture
      if (credentials === null) return smtp === null ? null : configured
      const known = own.get(id)
      if (known?.credentials === credentials) return known.provider
      void known?.provider.close()
      const made = makeSmtp(readCredentials(JSON.parse(secretBox().open(credentials)) as SenderCredentials))
      own.set(id, { credentials, provider: made })
      return made
    },
    check: (credentials) => void requireAllowed(readCredentials(credentials), mailServers),
    async close() {
      await Promise.all(all().map((provider) => provider.close()))
    },
    cutShort() {
      for (const provider of all()) provider.cutShort()
    },
  }
}

function readCredentials({ smtpUrl, dkim }: SenderCredentials): SmtpSettings {
  const settings = parseSmtpUrl(smtpUrl)
  if (dkim !== null && !isPrivateKey(dkim.privateKey)) throw new Error('The DKIM key must be a private key in PEM.')
  return { ...settings, dkim }
}

function requireAllowed(settings: SmtpSettings, mailServers: ProvidersOptions['mailServers']): SmtpSettings {
  if (mailServers?.includes(`${settings.host}:${settings.port}`) ?? true) return settings
  throw new Error(`No mail server may be used here but ${mailServers!.join(', ')}.`)
}

/** What the settings say about the mail server of the default sender. */
export function readSmtpUrl(
  url: string,
  { dkim = null, mailServers }: { dkim?: SmtpSettings['dkim']; mailServers?: readonly string[] },
): SmtpSettings {
  try {
    return requireAllowed({ ...parseSmtpUrl(url), dkim }, mailServers)
  } catch (error) {
    throw new PostriderError('setting_invalid', `SMTP_URL: ${(error as Error).message}`)
  }
}
