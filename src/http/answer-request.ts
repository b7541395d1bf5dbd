import type { Context as HonoContext } from 'hono'
import { PostriderError } from '../errors.js'
import { type IdPrefix, readId } from '../id.js'
import { answerLogin } from './answer-login.js'
import type { AppOptions } from './app-options.js'
import { detailOf, detailOfPart, isQuestion, partOf } from './audit-detail.js'
import { deedOf, madeBy, partDone, withAudit } from './audit-request.js'
import type { Watcher } from '../operations/watch-changes.js'
import { type Authenticator, type Caller, mayUse } from './authenticate.js'
import { type Call, type Endpoint, isSafe, type KeyedEndpoint, type OpenCall } from './endpoint.js'
import type { LoginLimit } from './login-limit.js'
import type { Env } from './observe.js'
import { RequestError } from './problem.js'
import type { RateLimit } from './rate-limit.js'
import { newReply, readCall, remoteAddressOf, type Reply, writeReply } from './read-call.js'
import { refuseCrossSite } from './refuse-cross-site.js'
import { readSessionCookie } from './session-cookie.js'

export interface Gate {
  readonly keys: Authenticator
  readonly watcher: Watcher
  readonly requests: RateLimit
  /** Per remote address. */
  readonly failures: RateLimit
  readonly logins: LoginLimit
}

/** All that happens to a request between the router and the endpoint's own function. */
export const answerRequest =
  (endpoint: Endpoint, options: AppOptions, gate: Gate) =>
  async (c: HonoContext<Env>): Promise<Response> => {
    c.set('route', endpoint.path)
    if ('scope' in endpoint) return answerKeyed(c, endpoint, options, gate)
    if (endpoint.access === 'login') return answerLogin(c, endpoint, options, gate.logins)
    const reply = newReply(endpoint)
    return writeReply(c, await endpoint.run(await readCall(c, endpoint, options, reply)), reply)
  }

/** In this order: who is it, may they, what do they want; then it is written down, and then it is done. */
async function answerKeyed(
  c: HonoContext<Env>,
  endpoint: KeyedEndpoint,
  options: AppOptions,
  gate: Gate,
): Promise<Response> {
  const reply = newReply(endpoint)
  const caller = await admit(c, endpoint, options, gate, reply)
  return withAudit(options.context, deedOf(c, endpoint, caller), async (announce) => {
    requireScope(caller, endpoint)
    const open = await readCall(c, endpoint, options, reply)
    const part = partOf(open.body)
    const detail = part ? detailOfPart(open.body) : detailOf(open.body)
    const deed = isQuestion(open.body) ? null : await announce(detail, part)
    const result = await endpoint.run(keyedCall(open, { caller, deed }, gate))
    return { response: writeReply(c, result, reply), made: madeBy(result), ...partDone(result) }
  })
}

/** By its key; or, without one, by the session of the dashboard. */
async function admit(
  c: HonoContext<Env>,
  endpoint: KeyedEndpoint,
  { context: { publicUrl } }: AppOptions,
  { keys, requests, failures }: Gate,
  { headers }: Reply,
): Promise<Caller> {
  const authorization = c.req.header('authorization')
  const token = authorization === undefined ? readSessionCookie(c.req.header('cookie')) : null
  const caller = token === null ? await keys.authenticate(authorization) : await keys.authenticateSession(token)
  if (!caller) {
    // Counted only when it failed: those who share an address with somebody who guesses keys are not locked out.
    const address = remoteAddressOf(c)
    if (address !== undefined) await failures.count(address)
    throw new RequestError('unauthorized', explainRefusal(authorization, token), {
      headers: { 'WWW-Authenticate': 'Bearer realm="postrider"' },
    })
  }
  if (caller.session && !isSafe(endpoint)) refuseCrossSite(c.req.raw, publicUrl)
  Object.assign(headers, await requests.count(caller.id))
  return caller
}

function explainRefusal(authorization: string | undefined, token: string | null): string {
  if (authorization !== undefined) return 'This API key is not valid, or was revoked.'
  if (token !== null) return 'This session is over. Log in again.'
  return 'Send an API key, as in Authorization: Bearer pr_…, or log in to the dashboard.'
}

function requireScope(caller: Caller, { scope }: KeyedEndpoint): void {
  if (mayUse(caller, scope)) return
  if (caller.session)
    throw new RequestError('forbidden', `A ${caller.session.role} can look and not act. This needs an operator.`)
  throw new RequestError('forbidden', `This needs a key with the scope ${scope}.`, {
    headers: { 'WWW-Authenticate': `Bearer realm="postrider", error="insufficient_scope", scope="${scope}"` },
  })
}

const keyedCall = (
  open: OpenCall<unknown, unknown>,
  { caller, deed }: Pick<Call<unknown, unknown>, 'caller' | 'deed'>,
  { keys, watcher }: Gate,
): Call<unknown, unknown> => ({
  ...open,
  caller,
  deed,
  keys,
  watcher,
  id(prefix, param = 'id') {
    const id = readId(prefix, open.param(param))
    if (id === null) throw notFound(prefix)
    return id
  },
})

function notFound(prefix: IdPrefix): Error {
  switch (prefix) {
    case 'em':
      return new PostriderError('email_not_found', 'There is no such email.')
    case 'snd':
      return new PostriderError('sender_not_found', 'There is no such sender.')
    case 'usr':
      return new PostriderError('user_not_found', 'There is no such user.')
    case 'key':
      return new PostriderError('key_not_found', 'There is no such API key.')
    case 'ctc':
      return new PostriderError('contact_not_found', 'There is no such contact.')
    case 'lst':
      return new PostriderError('list_not_found', 'There is no such list.')
    case 'imp':
      return new PostriderError('import_not_found', 'There is no such import.')
    case 'tpl':
      return new PostriderError('template_not_found', 'There is no such template.')
    case 'cmp':
      return new PostriderError('campaign_not_found', 'There is no such campaign.')
    case 'seq':
      return new PostriderError('sequence_not_found', 'There is no such sequence.')
    case 'enr':
      return new PostriderError('enrollment_not_found', 'There is no such enrollment.')
    default:
      return new RequestError('not_found', 'There is nothing with this id.')
  }
}
