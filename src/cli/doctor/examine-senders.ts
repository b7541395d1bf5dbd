import { composeProviders, type Providers, readSmtpUrl } from '../../compose-providers.js'
import type { Config } from '../../config.js'
import type { Database } from '../../db/client.js'
import { listSenders, type Sender } from '../../db/senders.js'
import { listWorkspaces } from '../../db/workspaces.js'
import type { Evidence, Phase } from '../../domain/failure.js'
import type { Log } from '../../log.js'
import type { Finding } from '../../operations/examine.js'
import { createSecretBox } from '../../secret-box.js'
import { findSecret } from '../../secret.js'
import { oneLine } from '../safe-text.js'

/** Connects and authenticates as every sender would, without sending, and tells of those that are paused. */
export async function examineSenders(db: Database, config: Config, log: Log): Promise<Finding[]> {
  const { smtpUrl, dkim, secret, databaseUrl, dataDirectory } = config
  const secretBox = () => createSecretBox(findSecret(secret, databaseUrl === null ? dataDirectory : null))
  const providers = composeProviders({
    db,
    log,
    smtp: smtpUrl === null ? null : readSmtpUrl(smtpUrl, { dkim }),
    secretBox,
  })
  try {
    const senders = await listAllSenders(db)
    const own = senders.filter(({ credentials }) => credentials !== null)
    return [
      await examineConfigured(providers, smtpUrl, senders),
      ...(await Promise.all(own.map((sender) => examineOwn(providers, sender)))),
      ...senders.filter(({ pausedAt }) => pausedAt !== null).map(describePaused),
    ]
  } finally {
    await providers.close()
  }
}

async function listAllSenders(db: Database): Promise<Sender[]> {
  const all: Sender[] = []
  for (const { id } of await listWorkspaces(db)) all.push(...(await listSenders(db, id)))
  return all
}

const PATIENCE_MS = 10_000

type Connecting = Parameters<Providers['of']>[0]

/** The provider of the settings, which all senders without credentials of their own share. */
async function examineConfigured(
  providers: Providers,
  smtpUrl: string | null,
  senders: readonly Sender[],
): Promise<Finding> {
  const shared = senders.find(({ credentials }) => credentials === null)
  if (smtpUrl === null)
    return shared?.provider === 'smtp'
      ? {
          subject: 'provider',
          verdict: 'warning',
          text: 'here the dev inbox, but the server that ran last sends by SMTP: run doctor with the settings of the server',
        }
      : { subject: 'provider', verdict: 'ok', text: 'the dev inbox keeps every email; SMTP_URL sends them for real' }
  const anybody = { id: 'settings', provider: 'smtp', credentials: null } as Connecting
  return verify(providers, anybody, 'SMTP_URL', new URL(smtpUrl).host)
}

const examineOwn = (providers: Providers, sender: Sender) =>
  verify(providers, sender, "the sender's SMTP URL", sender.address)

async function verify(providers: Providers, sender: Connecting, setting: string, name: string): Promise<Finding> {
  const subject = 'provider'
  try {
    const provider = providers.of(sender)
    if (!provider) return { subject, verdict: 'problem', text: `${name}: SMTP_URL is not set here` }
    const { ok, evidence } = await provider.verify(AbortSignal.timeout(PATIENCE_MS))
    return ok
      ? { subject, verdict: 'ok', text: `${name} answers and takes our credentials` }
      : { subject, verdict: 'problem', text: `${name}: ${describe(evidence)}. ${adviseOn(evidence.phase, setting)}` }
  } catch (error) {
    return { subject, verdict: 'problem', text: `${name}: ${(error as Error).message}` }
  }
}

const describe = ({ phase, code, enhancedCode, reply }: Evidence) =>
  `failed at ${phase}: ${[code, enhancedCode, oneLine(reply).replace(/\.$/, '')].filter((part) => part !== null).join(' ')}`

function adviseOn(phase: Phase, setting: string): string {
  switch (phase) {
    case 'auth':
      return `Check user and password in ${setting}.`
    case 'tls':
      return `Check that the host in ${setting} is the name in the server's certificate.`
    default:
      return `Check host and port in ${setting}, and that this machine may reach them.`
  }
}

const describePaused = ({ address, pausedReason }: Sender): Finding => ({
  subject: 'sender',
  verdict: 'warning',
  text: `${address} is paused: ${oneLine(pausedReason ?? 'by somebody')}. Its emails wait until it is resumed (postrider senders resume ${address})`,
})
