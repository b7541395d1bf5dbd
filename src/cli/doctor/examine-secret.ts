import { join } from 'node:path'
import type { Config } from '../../config.js'
import type { Finding } from '../../operations/examine.js'
import { findSecret } from '../../secret.js'

export function examineSecret({
  secret,
  databaseUrl,
  dataDirectory,
}: Pick<Config, 'secret' | 'databaseUrl' | 'dataDirectory'>): Finding {
  const finding = (verdict: Finding['verdict'], text: string) => ({ subject: 'secret', verdict, text })
  if (secret !== null) return finding('ok', 'POSTRIDER_SECRET is set')
  if (databaseUrl === null) return finding('ok', `kept in ${join(dataDirectory, 'secret')}, made at the first start`)
  try {
    findSecret(secret, null)
    return finding('ok', 'not needed')
  } catch (error) {
    return finding('problem', (error as Error).message)
  }
}
