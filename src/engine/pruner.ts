import type { Database } from '../db/client.js'
import { FIRST_PAGE, pruneActions, pruneIdempotencyKeys, readRetentionStart } from '../db/prune-actions.js'
import { pruneDashboard } from '../db/prune-dashboard.js'
import type { Log } from '../log.js'
import { SESSION_IDLE_MS } from '../operations/dashboard-sessions.js'
import { createLoop, type Loop } from './loop.js'

/** Forgets what has been over for longer than the retention, a page at a time. */
export interface PrunerOptions {
  readonly db: Database
  readonly log: Log
  readonly retentionMs: number
  readonly intervalMs?: number
}

const HOUR_MS = 3_600_000
const PAGE = 1_000
/** Who did what is asked about long after the emails are forgotten. */
const AUDIT_MS = 365 * 24 * HOUR_MS

export async function prune(db: Database, retentionMs: number): Promise<number> {
  const before = await readRetentionStart(db, retentionMs)
  let pruned = 0
  let after: string | null = FIRST_PAGE
  while (after !== null) {
    const page = await pruneActions(db, { after, before, retentionMs, limit: PAGE })
    pruned += page.pruned
    after = page.next
  }
  while ((await pruneIdempotencyKeys(db, retentionMs, PAGE)) === PAGE);
  await pruneDashboard(db, { idleMs: SESSION_IDLE_MS, auditMs: AUDIT_MS, limit: PAGE })
  return pruned
}

export function createPruner({ db, log, retentionMs, intervalMs = HOUR_MS }: PrunerOptions): Loop {
  return createLoop({
    name: 'pruner',
    log,
    intervalMs,
    async round() {
      const pruned = await prune(db, retentionMs)
      if (pruned > 0) log.info({ pruned }, 'forgot what was over long ago')
    },
  })
}
