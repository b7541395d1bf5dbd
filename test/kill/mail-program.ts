/**
 * A Postrider in a process of its own, for tests that kill and freeze it. Started by mail-process.ts with its settings as
 * one JSON argument. It has no hook for tests: what it does is what `postrider start`, `serve` and `work` do.
 */
import { serve } from '../../src/http/serve.js'
import { createPostrider, type RetryPolicy } from '../../src/index.js'
import { createLog } from '../../src/log.js'
import { API_KEY } from './api-key.js'

export interface MailSettings {
  readonly databaseUrl: string | null
  /** Of the embedded database, and of the notes. */
  readonly dataDirectory: string
  readonly attach: boolean
  readonly smtpPort: number
  /** Whether it sends what is due. */
  readonly works: boolean
  /** Whether it accepts emails by HTTP. */
  readonly listens: boolean
  readonly leaseMs: number
  readonly sweepMs: number
  /** Emails under way at once, and connections to the mail server. */
  readonly concurrency: number
  readonly waitsMs: readonly number[]
  readonly maxAttempts: number
  readonly brokerUrl?: string
}

export interface FromMail {
  readonly ready: true
  readonly url: string | null
}

const settings = JSON.parse(process.argv[2]!) as MailSettings
// Whatever ends the test ends its processes.
process.once('disconnect', () => process.exit(99))

const { databaseUrl, dataDirectory, attach, leaseMs, sweepMs, concurrency, waitsMs, maxAttempts } = settings
const log = createLog('warn')
const policy = (name: string): RetryPolicy => ({ name, waitsMs, maxAttempts, jitter: 0 })
const postrider = await createPostrider({
  databaseUrl,
  dataDirectory,
  attach,
  migrate: false,
  leaseMs,
  sweepMs,
  concurrency,
  brokerUrl: settings.brokerUrl ?? null,
  retryPolicies: {
    transactional: policy('transactional'),
    standard: policy('standard'),
    outreach: policy('outreach'),
  },
  smtpUrl: `smtp://127.0.0.1:${settings.smtpPort}?pool=${concurrency}`,
  mailFrom: { name: 'Kill suite', address: 'kill@sender.test' },
  secret: 'a secret of the kill suite',
  apiKey: API_KEY,
  rateLimit: 1_000_000,
  log,
  onCrash: () => process.exit(98),
})
if (settings.works) await postrider.start()
const server = settings.listens ? await serve(postrider, { host: '127.0.0.1', port: 0 }) : null
process.send!({ ready: true, url: server?.url ?? null } satisfies FromMail)
await new Promise((resolve) => process.once('SIGTERM', resolve))
await server?.close()
await postrider.stop()
// The channel to the parent would keep this process alive.
process.removeAllListeners('disconnect')
process.disconnect()
