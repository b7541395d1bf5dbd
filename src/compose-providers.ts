import { insertCapturedEmails } from './db/captured-emails.js'
import type { Database } from './db/client.js'
import type { Sender } from './db/senders.js'
import { groupCommit } from './group-commit.js'
import type { Log } from './log.js'
import { composeMessage } from './mime/compose-message.js'
import { createCaptureProvider, type Captured } from './providers/capture.js'
import { parseSmtpUrl } from './providers/parse-smtp-url.js'
import type { Provider } from './providers/provider.js'
import { createSmtpProvider, type SmtpProviderOptions } from './providers/smtp.js'
import type { SecretBox } from './secret-box.js'

/** The providers of all senders this process sends for. Senders without credentials of their own share one. */
export interface Providers {
  of(sender: Sender): Provider
  close(): Promise<void>
}

export interface ProvidersOptions {
  readonly db: Database
  readonly log: Log
  readonly smtpUrl: string | null
  readonly secretBox: () => SecretBox
  readonly timeouts?: SmtpProviderOptions['timeouts']
}

const CAPTURED_TOGETHER = 100

export function composeProviders({ db, log, smtpUrl, secretBox, timeouts }: ProvidersOptions): Providers {
  const keep = groupCommit<Captured, void>(
    async (captured) => {
      await insertCapturedEmails(db, captured)
      return captured.map(() => undefined)
    },
    { maxItems: CAPTURED_TOGETHER, maxFlushes: 2 },
  )
  const capture = createCaptureProvider({ compose: composeMessage, keep })
  const makeSmtp = (url: string) =>
    createSmtpProvider(parseSmtpUrl(url), composeMessage, { log, ...(timeouts && { timeouts }) })
  const configured = smtpUrl === null ? capture : makeSmtp(smtpUrl)
  /** By sender, with the credentials it was made for: changed ones make a new one. */
  const own = new Map<string, { credentials: string; provider: Provider }>()

  return {
    of({ id, provider, credentials }) {
      if (credentials === null) return configured
      if (provider === 'capture') return capture
      const known = own.get(id)
      if (known?.credentials === credentials) return known.provider
      void known?.provider.close()
      const made = makeSmtp(secretBox().open(credentials))
      own.set(id, { credentials, provider: made })
      return made
    },
    async close() {
      await Promise.all(
        [capture, configured, ...[...own.values()].map(({ provider }) => provider)].map((p) => p.close()),
      )
    },
  }
}
