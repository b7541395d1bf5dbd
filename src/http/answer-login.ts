import type { Context as HonoContext } from 'hono'
import type { AppOptions } from './app-options.js'
import { describeAction, withAudit } from './audit-request.js'
import type { LoginEndpoint } from './endpoint.js'
import type { LoginLimit } from './login-limit.js'
import type { Env } from './observe.js'
import { codeOf } from './problem.js'
import type { ProblemCode } from './problem-codes.js'
import { newReply, readCall, remoteAddressOf, writeReply } from './read-call.js'
import { refuseCrossSite } from './refuse-cross-site.js'
import { readSessionCookie } from './session-cookie.js'

/** What somebody who guesses would be told. A password that is too short to be taken is no guess. */
const GUESSED = new Set<ProblemCode>(['login_failed', 'link_invalid'])

const LONGEST_AGENT = 200

/** Somebody wants in: from a page of ours, not too often, and on the record whether or not they succeed. */
export async function answerLogin(
  c: HonoContext<Env>,
  endpoint: LoginEndpoint,
  options: AppOptions,
  logins: LoginLimit,
): Promise<Response> {
  const { context } = options
  refuseCrossSite(c.req.raw, context.publicUrl)
  const reply = newReply(endpoint)
  const call = await readCall(c, endpoint, options, reply)
  const { claims, name, workspaceId } = await endpoint.who(call)
  const address = remoteAddressOf(c)
  // Before the log: somebody who tries all day fills neither the disk nor the page that people read.
  const attempt = await logins.attempt(address, claims)
  const detail = {
    ...(address !== undefined && { remote_address: address }),
    user_agent: c.req.header('user-agent')?.slice(0, LONGEST_AGENT) ?? null,
  }
  const deed = {
    ...describeAction(c, endpoint),
    workspaceId,
    actor: name ?? 'unknown',
    actorKind: 'visitor' as const,
    target: null,
    detail,
    evenIfRefused: false,
  }
  try {
    const response = await withAudit(context, deed, async (announce) => {
      await announce({})
      const result = await endpoint.run({ ...call, sessionToken: readSessionCookie(c.req.header('cookie')) })
      return { response: writeReply(c, result, reply), made: null }
    })
    await attempt.forgive()
    return response
  } catch (error) {
    if (!GUESSED.has(codeOf(error))) await attempt.forgive()
    throw error
  }
}
