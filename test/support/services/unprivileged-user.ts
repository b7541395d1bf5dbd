import { readFileSync } from 'node:fs'

export interface UnprivilegedUser {
  uid: number
  gid: number
}

/**
 * Whom a private server runs as. PostgreSQL refuses to run as root, so under root the first of the given accounts
 * that exists takes its place; anybody else runs servers as themselves, which is `null`.
 */
export function findUnprivilegedUser(...accounts: string[]): UnprivilegedUser | null {
  if (process.getuid?.() !== 0) return null
  const entries = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
  for (const account of [...accounts, 'nobody']) {
    const entry = entries.find(([name]) => name === account)
    if (entry) return { uid: Number(entry[2]), gid: Number(entry[3]) }
  }
  throw new Error(
    `Running as root, but none of the accounts ${accounts.join(', ')} or nobody exists to run a server as.`,
  )
}
