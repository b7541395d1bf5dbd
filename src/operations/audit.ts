import { type AuditIntent, insertAuditIntent, recordAuditOutcome } from '../db/audit-log.js'
import { type AuditPart, beginAuditPart, firstPart, recordAuditPart } from '../db/audit-parts.js'
import { PostriderError } from '../errors.js'
import { newId } from '../id.js'
import type { Context } from './context.js'

/** A deed that was announced, and whose end is still to be written down. */
export interface Announced {
  readonly id: string
  /** Never fails: what was done stays done, and the row then says that its end is not known. */
  finish(outcome: Outcome): Promise<void>
}

interface Outcome {
  readonly status: number
  readonly problem: string | null
  readonly target: string | null
  /** Of a part of a deed. */
  readonly part?: AuditPart
}

/** So many of what is done in all, of which the parts before it, if there are any, were announced as this deed. */
export interface Part {
  readonly deed: string | null
  readonly size: number
}

/** Written before the deed. If it cannot be written, there is no deed. */
export async function announceDeed(
  { db, log }: Pick<Context, 'db' | 'log'>,
  workspaceId: string,
  intent: Omit<AuditIntent, 'id'>,
  part?: Part,
): Promise<Announced> {
  const id = part?.deed ?? newId()
  if (part?.deed == null) {
    const detail = part ? { ...intent.detail, ...firstPart(part.size) } : intent.detail
    await insertAuditIntent(db, workspaceId, { ...intent, id, detail })
  } else if (!(await beginAuditPart(db, workspaceId, { ...intent, id }, part.size)))
    throw new PostriderError(
      'email_conflict',
      'This is not a part of what was begun, or that is over, or more than was said there would be in all.',
    )
  return {
    id,
    async finish({ part: done, ...outcome }) {
      try {
        if (part && done && outcome.problem === null) await recordAuditPart(db, workspaceId, id, done, outcome.status)
        else await recordAuditOutcome(db, workspaceId, id, outcome)
      } catch (error) {
        log.warn({ err: error, request: intent.requestId }, 'how a request ended is not in the audit log')
      }
    },
  }
}
