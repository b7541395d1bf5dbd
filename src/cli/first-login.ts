import type { Config } from '../config.js'
import type { Database } from '../db/client.js'
import { makeFirstLink, setUpUrl } from '../operations/dashboard-links.js'
import { publicUrlOf } from './dashboard-url.js'

/** How somebody gets into the dashboard of a server that has just started. */
export type FirstLogin =
  /** Whoever set it knows it, and a log need not. */
  | { readonly kind: 'configured' }
  /** Nobody has a password yet. Whoever reads this line first may choose one. */
  | { readonly kind: 'link'; readonly url: string }
  | { readonly kind: 'chosen before' }

export async function findFirstLogin(
  db: Database,
  config: Pick<Config, 'adminPassword' | 'host' | 'port' | 'publicUrl'>,
  servingUrl: string,
): Promise<FirstLogin> {
  if (config.adminPassword !== null) return { kind: 'configured' }
  const link = await makeFirstLink(db)
  if (link === null) return { kind: 'chosen before' }
  return { kind: 'link', url: setUpUrl(publicUrlOf(config, servingUrl), link.token) }
}

export function describeLogin(login: FirstLogin): string {
  switch (login.kind) {
    case 'configured':
      return 'as admin, with the password in POSTRIDER_ADMIN_PASSWORD'
    case 'link':
      return `choose a password at ${login.url}  (works once, for 24 hours)`
    case 'chosen before':
      return 'with the password that was chosen; "postrider admin link" lets somebody in who has none'
  }
}
