import type { Postrider } from '../postrider.js'
import type { Config } from '../config.js'
import type { Backlog } from '../db/actions.js'
import { VERSION } from '../version.js'
import type { FirstKey } from './first-key.js'
import { describeLogin, type FirstLogin } from './first-login.js'

/** What `start` says once it is ready: what it is, where it is, how to log in, and how to send a first email. */
export interface Greeted {
  readonly postrider: Pick<Postrider, 'database' | 'migrated'>
  readonly config: Pick<Config, 'smtpUrl' | 'mailFrom' | 'workerConcurrency' | 'leaseMs'>
  readonly backlog: Pick<Backlog, 'due' | 'attention'>
  readonly url: string
  readonly firstKey: FirstKey
  readonly dashboardUrl: string
  readonly firstLogin: FirstLogin
}

export function greet({ postrider, config, backlog, url, firstKey, dashboardUrl, firstLogin }: Greeted): string {
  const facts = {
    database: postrider.database.description,
    schema: postrider.migrated.length > 0 ? `applied ${postrider.migrated.join(', ')}` : 'up to date',
    mail: describeMail(config.smtpUrl),
    worker: `${config.workerConcurrency} emails at once, leases of ${config.leaseMs / 1_000} s`,
    backlog: `${backlog.due} due, ${backlog.attention} failed or uncertain`,
    dashboard: dashboardUrl,
    'log in': describeLogin(firstLogin),
    API: `${url}/api`,
    docs: `${url}/api/docs`,
    'API key': describeKey(firstKey),
  }
  return `Postrider ${VERSION}
${Object.entries(facts)
  .map(([name, value]) => `  ${name.padEnd(9)}  ${value}`)
  .join('\n')}

${suggest(url, firstKey, config)}

Ready. Ctrl-C stops it: what is under way is finished, the rest waits in the database.
`
}

const describeMail = (smtpUrl: string | null) =>
  smtpUrl === null
    ? 'kept in the dev inbox, nothing leaves this machine; SMTP_URL sends it for real'
    : `sent through ${new URL(smtpUrl).host}`

function describeKey(firstKey: FirstKey): string {
  switch (firstKey.kind) {
    case 'configured':
      return 'the one in POSTRIDER_API_KEY'
    case 'made':
      return `${firstKey.key}  (shown this once; keep it)`
    case 'kept':
      return `${firstKey.key}  (kept in ${firstKey.file})`
    case 'shown before':
      return 'was shown at the first start; "postrider keys create" makes another'
  }
}

function suggest(url: string, firstKey: FirstKey, { smtpUrl, mailFrom }: Greeted['config']): string {
  const key = 'key' in firstKey ? firstKey.key : firstKey.kind === 'configured' ? '$POSTRIDER_API_KEY' : '$KEY'
  const authorization = `-H "Authorization: Bearer ${key}"`
  // With a real mail server the first email goes to whoever set it up, and not to a stranger.
  const to = smtpUrl === null ? 'ada@example.com' : mailFrom.address
  const email = JSON.stringify({ to, subject: 'Hello', text: 'It works.' }).replaceAll("'", String.raw`'\''`)
  const look =
    smtpUrl === null
      ? `It then shows in the inbox:\n  curl -sS ${url}/api/inbox ${authorization}`
      : `See what became of it:\n  curl -sS ${url}/api/emails ${authorization}`
  return `${firstKey.kind === 'shown before' ? 'Send an email, with a key in KEY:' : 'Send a first email:'}
  curl -sS ${url}/api/emails ${authorization} -H "Content-Type: application/json" -d '${email}'

${look}`
}
