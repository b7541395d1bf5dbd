import type { Context as HonoContext } from 'hono'
import type { AuditDetail, AuditIntent } from '../db/audit-log.js'
import type { AuditPart } from '../db/audit-parts.js'
import { isId, showId } from '../id.js'
import { type Announced, announceDeed, type Part } from '../operations/audit.js'
import type { Context } from '../operations/context.js'
import type { Caller } from './authenticate.js'
import { type Endpoint, isSafe, type KeyedEndpoint } from './endpoint.js'
import type { Env } from './observe.js'
import { codeOf } from './problem.js'
import { statusOfCode } from './problem-codes.js'

/** A request that belongs in the audit log, as far as it is known before it is read. */
export interface Deed extends Omit<AuditIntent, 'id'> {
  readonly workspaceId: string
  /** Also when it is refused before anything was about to be done. */
  readonly evenIfRefused: boolean
}

/** What somebody does to the system itself is written down also when a key does it; sending mail is not. */
const ALSO_BY_KEY = /^\/api\/(?:admin|api-keys|campaigns|senders|settings|suppressions)(?:\/|$)/

/** Null for what is not written down: looking, and all that programs do all day. */
export function deedOf(c: HonoContext<Env>, endpoint: KeyedEndpoint, caller: Caller): Deed | null {
  // With the scope `read` nothing can be changed: a preview is a POST because of its size.
  if (isSafe(endpoint) || (endpoint.scope === 'read' && !endpoint.audited)) return null
  const isUser = caller.session !== undefined
  if (!isUser && !ALSO_BY_KEY.test(endpoint.path)) return null
  const [target, ...others] = [...endpoint.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!)
  return {
    ...describeAction(c, endpoint),
    workspaceId: caller.workspaceId,
    actor: caller.name,
    actorKind: isUser ? 'user' : 'key',
    target: target === undefined ? null : (c.req.param(target) ?? null),
    detail: {
      ...(!isUser && isId(caller.id) && { key_id: showId('key', caller.id) }),
      ...Object.fromEntries(others.map((name) => [name, c.req.param(name) ?? null])),
    },
    // A key that is refused is a program's mistake, which may be repeated a thousand times a second.
    evenIfRefused: isUser,
  }
}

export const describeAction = (c: HonoContext<Env>, { method, path, summary }: Endpoint) => ({
  action: `${method.toUpperCase()} ${path}`,
  summary,
  requestId: c.get('requestId'),
})

export interface Done {
  readonly response: Response
  /** The id of what was made, if something was. */
  readonly made: string | null
  /** Of a part of a deed: what became of it. */
  readonly part?: AuditPart
}

/** Answers with the id of the entry, if there is one. */
export type Announce = (detail: AuditDetail, part?: Part) => Promise<string | null>

/**
 * Runs `work`, which calls `announce` when it knows what it is about to do and before it does it. A process that dies in
 * between leaves a row that says so: who, what, and that its end is not known.
 */
export async function withAudit(
  context: Context,
  deed: Deed | null,
  work: (announce: Announce) => Promise<Done>,
): Promise<Response> {
  if (deed === null) return (await work(() => Promise.resolve(null))).response
  const { workspaceId, evenIfRefused, ...intent } = deed
  let asked = false
  let announced: Announced | undefined
  const announce: Announce = async (detail, part) => {
    asked = true
    announced = await announceDeed(context, workspaceId, { ...intent, detail: { ...intent.detail, ...detail } }, part)
    return announced.id
  }
  try {
    const { response, made, part } = await work(announce)
    await announced?.finish({ status: response.status, problem: null, target: made, ...(part && { part }) })
    return response
  } catch (error) {
    // The refusal is what counts: it is told whether or not it could be written down.
    if (!asked && evenIfRefused) await announce({}).catch(() => undefined)
    const problem = codeOf(error)
    await announced?.finish({ status: statusOfCode(problem), problem, target: null })
    throw error
  }
}

/** The id in an answer, if that is of something of ours. */
export function madeBy(result: unknown): string | null {
  const { id } = (typeof result === 'object' && result !== null ? result : {}) as { id?: unknown }
  return typeof id === 'string' && /^[a-z]+_[0-9a-f]{32}$/.test(id) ? id : null
}

/** How many an answer says were changed and were not. */
export function partDone(result: unknown): { readonly part?: AuditPart } {
  const { changed, refused_count: refused } = (result ?? {}) as { changed?: unknown; refused_count?: unknown }
  return typeof changed === 'number' && typeof refused === 'number' ? { part: { changed, refused } } : {}
}
