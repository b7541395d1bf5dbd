import { type AuditIntent, insertAuditIntent, recordAuditOutcome } from '../db/audit-log.js'
import { newId } from '../id.js'
import type { Context } from './context.js'

/** A deed that was announced, and whose end is still to be written down. */
export interface Announced {
  /** Never fails: what was done stays done, and the row then says that its end is not known. */
  finish(outcome: { status: number; problem: string | null; target: string | null }): Promise<void>
}

/** Written before the deed. If it cannot be written, there is no deed. */
export async function announceDeed(
  { db, log }: Pick<Context, 'db' | 'log'>,
  workspaceId: string,
  intent: Omit<AuditIntent, 'id'>,
): Promise<Announced> {
  const id = newId()
  await insertAuditIntent(db, workspaceId, { ...intent, id })
  return {
    async finish(outcome) {
      try {
        await recordAuditOutcome(db, workspaceId, id, outcome)
      } catch (error) {
        log.warn({ err: error, request: intent.requestId }, 'how a request ended is not in the audit log')
      }
    },
  }
}
