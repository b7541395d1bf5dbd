import type { Context as HonoContext } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import type { AppOptions } from './app-options.js'
import type { Endpoint, OpenCall } from './endpoint.js'
import type { Env } from './observe.js'
import { RequestError } from './problem.js'
import { readForm, readJson, readStream } from './read-body.js'
import { readInput } from './read-input.js'

/** What an endpoint may still say about its answer while it works on it. */
export interface Reply {
  status: number
  readonly headers: Record<string, string>
}

export const newReply = ({ status = 200 }: Endpoint): Reply => ({ status, headers: { 'Cache-Control': 'no-store' } })

/** What an endpoint is given, once its query and its body are of the shape it asks for. */
export async function readCall(
  c: HonoContext<Env>,
  endpoint: Endpoint,
  options: AppOptions,
  reply: Reply,
): Promise<OpenCall<unknown, unknown>> {
  const query = endpoint.query && readInput(endpoint.query, c.req.query(), 'query')
  const body = endpoint.body && readInput(endpoint.body, await bodyOf(c, endpoint), 'body')
  return {
    options,
    query,
    body,
    stream: endpoint.stream ? readStream(c.req.raw, endpoint.stream) : NOTHING,
    form: () => readForm(c.req.raw),
    param: (name) => c.req.param(name) ?? '',
    header: (name) => c.req.header(name),
    setHeader: (name, value) => void (reply.headers[name] = value),
    setStatus: (chosen) => void (reply.status = chosen),
  }
}

export function writeReply(c: HonoContext<Env>, result: unknown, { status, headers }: Reply): Response {
  if (!(result instanceof Response)) return c.json(result, status as ContentfulStatusCode, headers)
  for (const [name, value] of Object.entries(headers)) if (!result.headers.has(name)) result.headers.set(name, value)
  return result
}

/** The body of an endpoint that takes none. */
const NOTHING: AsyncIterable<Uint8Array> = {
  [Symbol.asyncIterator]: () => ({ next: async () => ({ done: true, value: undefined }) }),
}

async function bodyOf(c: HonoContext<Env>, { bodyOptional }: Endpoint): Promise<unknown> {
  const body = await readJson(c.req.raw)
  if (body !== undefined) return body
  if (bodyOptional) return {}
  throw new RequestError('json_malformed', 'A JSON body is needed.')
}

/** Known when the request came through `serve`; behind a proxy it is the proxy's. */
export function remoteAddressOf(c: HonoContext<Env>): string | undefined {
  const env = c.env as { incoming?: { socket?: { remoteAddress?: string } } } | undefined
  return env?.incoming?.socket?.remoteAddress
}
