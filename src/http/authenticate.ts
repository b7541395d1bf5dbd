import { type ApiKey, touchApiKeys } from '../db/api-keys.js'
import type { Database } from '../db/client.js'
import type { DashboardSession } from '../db/dashboard-sessions.js'
import { scopesOfRole } from '../domain/dashboard-role.js'
import { SCOPES, type Scope } from '../domain/scopes.js'
import { DEFAULT_WORKSPACE } from '../id.js'
import type { Log } from '../log.js'
import { findValidKey, hashKey, sameSecret } from '../operations/api-keys.js'
import { findSession } from '../operations/dashboard-sessions.js'

/** Who asks. */
export interface Caller {
  readonly workspaceId: string
  /** What its requests are counted by. */
  readonly id: string
  /** For the history of what was decided. */
  readonly name: string
  readonly scopes: readonly string[]
  /** Of somebody at the dashboard; a program with a key has none. */
  readonly session?: DashboardSession
}

export interface Authenticator {
  /** Null for whoever has no valid key. */
  authenticate(authorization: string | undefined): Promise<Caller | null>
  /** Null for whoever is not logged in, or not any more: that is asked every time, so that nobody stays a moment longer. */
  authenticateSession(token: string): Promise<Caller | null>
  /** A key was revoked here: not even a moment longer. */
  forget(keyId: string): void
  /** Writes down what was used when. */
  close(): Promise<void>
}

/** How long a key that was revoked elsewhere may still be used. */
const REMEMBERED_MS = 5_000
const MOST_REMEMBERED = 10_000
const TOUCH_MS = 10_000
/** Longer than any key of ours: nothing is hashed only because somebody sent it. */
const LONGEST_KEY = 512

interface Remembered {
  readonly until: number
  readonly caller: Promise<Caller | null>
}

export function createAuthenticator({
  db,
  log,
  apiKey,
  adminPassword,
}: {
  db: Database
  log: Log
  apiKey: string | null
  adminPassword: string | null
}): Authenticator {
  const remembered = new Map<string, Remembered>()
  const used = new Set<string>()
  let timer: NodeJS.Timeout | undefined
  const configured: Caller = {
    workspaceId: DEFAULT_WORKSPACE,
    id: 'POSTRIDER_API_KEY',
    name: 'POSTRIDER_API_KEY',
    scopes: SCOPES,
  }

  const writeUses = async () => {
    clearTimeout(timer)
    timer = undefined
    const ids = [...used]
    used.clear()
    if (ids.length === 0) return
    try {
      await touchApiKeys(db, ids)
    } catch (error) {
      // When a key was last used is worth knowing, not worth failing for.
      log.debug({ err: error }, 'the last use of keys was not written')
    }
  }

  const look = (key: string): Promise<Caller | null> => {
    const hash = hashKey(key)
    const now = performance.now()
    const known = remembered.get(hash)
    if (known && known.until > now) return known.caller
    const caller = findValidKey(db, key).then((found) => found && toCaller(found))
    remembered.delete(hash)
    remembered.set(hash, { until: now + REMEMBERED_MS, caller })
    if (remembered.size > MOST_REMEMBERED) remembered.delete(remembered.keys().next().value!)
    // An answer the database could not give is no answer.
    caller.catch(() => remembered.delete(hash))
    return caller
  }

  return {
    async authenticate(authorization) {
      const key = readBearer(authorization)
      if (key === null || key.length > LONGEST_KEY) return null
      if (apiKey !== null && sameSecret(key, apiKey)) return configured
      const caller = await look(key)
      if (!caller) return null
      used.add(caller.id)
      timer ??= setTimeout(() => void writeUses(), TOUCH_MS).unref()
      return caller
    },
    async authenticateSession(token) {
      const session = await findSession(db, token, adminPassword)
      return session && callerOf(session)
    },
    forget(keyId) {
      for (const [hash, { caller }] of remembered)
        void caller.then(
          (found) => found?.id === keyId && remembered.delete(hash),
          () => undefined,
        )
    },
    close: writeUses,
  }
}

export function readBearer(authorization: string | undefined): string | null {
  const match = /^Bearer +([\x21-\x7e]+) *$/i.exec(authorization ?? '')
  return match ? match[1]! : null
}

const toCaller = ({ workspaceId, id, name, scopes }: ApiKey): Caller => ({ workspaceId, id, name, scopes })

export const callerOf = (session: DashboardSession): Caller => ({
  workspaceId: session.workspaceId,
  id: `dashboard:${session.name}`,
  name: session.name,
  scopes: scopesOfRole(session.role),
  session,
})

export const mayUse = ({ scopes }: Caller, scope: Scope): boolean => scopes.includes(scope)
