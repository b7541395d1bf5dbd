import { context, propagation, type Span, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import type { MiddlewareHandler } from 'hono'
import { newId } from '../id.js'
import type { Log } from '../log.js'
import { VERSION } from '../version.js'

/** What every request has, whoever answers it. */
export interface Env {
  Variables: { requestId: string; route: string; failure: unknown }
}

/** Given by a proxy or a client: short, and nothing that could be taken for another line of a log. */
const REQUEST_ID = /^[\w.:=-]{1,128}$/

const FROM_REQUEST = { get: (from: Headers, key: string) => from.get(key) ?? undefined, keys: () => [] }

/** Names the request, follows it in traces, and tells the log how it went. Never its body, its key or its query. */
export function observe(log: Log): MiddlewareHandler<Env> {
  const tracer = trace.getTracer('postrider', VERSION)
  return async (c, next) => {
    const started = performance.now()
    const { method } = c.req
    const given = c.req.header('x-request-id')
    const requestId = given !== undefined && REQUEST_ID.test(given) ? given : newId()
    c.set('requestId', requestId)
    const parent = propagation.extract(context.active(), c.req.raw.headers, FROM_REQUEST)
    const span = tracer.startSpan(method, { kind: SpanKind.SERVER }, parent)
    await context.with(trace.setSpan(parent, span), next)
    const { status } = c.res
    c.header('X-Request-Id', requestId)
    const route = c.get('route') ?? 'unknown'
    finish(span, `${method} ${route}`, { method, route, status })
    const seen = { request: requestId, method, route, status, ms: Math.round(performance.now() - started) }
    if (status >= 500) log.error({ ...seen, err: c.get('failure') }, 'request failed')
    else log.debug(seen, 'request')
  }
}

function finish(span: Span, name: string, seen: { method: string; route: string; status: number }): void {
  if (span.isRecording()) {
    span.updateName(name)
    span.setAttributes({
      'http.request.method': seen.method,
      'http.route': seen.route,
      'http.response.status_code': seen.status,
    })
    if (seen.status >= 500) span.setStatus({ code: SpanStatusCode.ERROR })
  }
  span.end()
}
