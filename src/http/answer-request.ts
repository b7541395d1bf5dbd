import type { Context as HonoContext } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { PostriderError } from '../errors.js'
import { type IdPrefix, readId } from '../id.js'
import type { AppOptions } from './app-options.js'
import { type Authenticator, type Caller, mayUse } from './authenticate.js'
import type { Call, Endpoint, KeyedEndpoint, OpenCall, OpenEndpoint } from './endpoint.js'
import type { Env } from './observe.js'
import { RequestError } from './problem.js'
import type { RateLimit } from './rate-limit.js'
import { readForm, readJson, readStream } from './read-body.js'
import { readInput } from './read-input.js'

export interface Gate {
  readonly keys: Authenticator
  readonly requests: RateLimit
  /** Per remote address. */
  readonly failures: RateLimit
}

/** All that happens to a request between the router and the endpoint's own function, in this order. */
export const answerRequest =
  (endpoint: Endpoint, options: AppOptions, gate: Gate) =>
  async (c: HonoContext<Env>): Promise<Response> => {
    c.set('route', endpoint.path)
    const headers: Record<string, string> = { 'Cache-Control': 'no-store' }
    const caller = 'scope' in endpoint ? await admit(c, endpoint, gate, headers) : null
    const query = endpoint.query && readInput(endpoint.query, c.req.query(), 'query')
    const body = endpoint.body && readInput(endpoint.body, await bodyOf(c, endpoint), 'body')
    let status = endpoint.status ?? 200
    const open = {
      options,
      query,
      body,
      stream: endpoint.stream ? readStream(c.req.raw, endpoint.stream) : NOTHING,
      form: () => readForm(c.req.raw),
      param: (name: string) => c.req.param(name) ?? '',
      header: (name: string) => c.req.header(name),
      setHeader: (name: string, value: string) => void (headers[name] = value),
      setStatus: (chosen: number) => void (status = chosen),
    }
    const result = caller
      ? await (endpoint as KeyedEndpoint).run(keyedCall(open, caller, gate))
      : await (endpoint as OpenEndpoint).run(open)
    if (!(result instanceof Response)) return c.json(result, status as ContentfulStatusCode, headers)
    for (const [name, value] of Object.entries(headers)) if (!result.headers.has(name)) result.headers.set(name, value)
    return result
  }

/** The body of an endpoint that takes none. */
const NOTHING: AsyncIterable<Uint8Array> = {
  [Symbol.asyncIterator]: () => ({ next: async () => ({ done: true, value: undefined }) }),
}

async function admit(
  c: HonoContext<Env>,
  { scope }: KeyedEndpoint,
  { keys, requests, failures }: Gate,
  headers: Record<string, string>,
): Promise<Caller> {
  const authorization = c.req.header('authorization')
  const caller = await keys.authenticate(authorization)
  if (!caller) {
    // Counted only when it failed: those who share an address with somebody who guesses keys are not locked out.
    const address = remoteAddressOf(c)
    if (address !== undefined) await failures.count(address)
    throw new RequestError(
      'unauthorized',
      authorization === undefined
        ? 'Send an API key, as in Authorization: Bearer pr_….'
        : 'This API key is not valid, or was revoked.',
      { headers: { 'WWW-Authenticate': 'Bearer realm="postrider"' } },
    )
  }
  Object.assign(headers, await requests.count(caller.id))
  if (!mayUse(caller, scope))
    throw new RequestError('forbidden', `This needs a key with the scope ${scope}.`, {
      headers: { 'WWW-Authenticate': `Bearer realm="postrider", error="insufficient_scope", scope="${scope}"` },
    })
  return caller
}

/** Known when the request came through `serve`; behind a proxy it is the proxy's. */
function remoteAddressOf(c: HonoContext<Env>): string | undefined {
  const env = c.env as { incoming?: { socket?: { remoteAddress?: string } } } | undefined
  return env?.incoming?.socket?.remoteAddress
}

async function bodyOf(c: HonoContext<Env>, { bodyOptional }: Endpoint): Promise<unknown> {
  const body = await readJson(c.req.raw)
  if (body !== undefined) return body
  if (bodyOptional) return {}
  throw new RequestError('json_malformed', 'A JSON body is needed.')
}

const keyedCall = (open: OpenCall<unknown, unknown>, caller: Caller, { keys }: Gate): Call<unknown, unknown> => ({
  ...open,
  caller,
  keys,
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
    default:
      return new RequestError('not_found', 'There is nothing with this id.')
  }
}
