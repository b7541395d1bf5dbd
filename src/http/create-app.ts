import { Hono } from 'hono'
import { secureHeaders } from 'hono/secure-headers'
import { answerRequest } from './answer-request.js'
import type { AppOptions } from './app-options.js'
import { createAuthenticator } from './authenticate.js'
import { createDashboardFiles } from './dashboard-files.js'
import { createWatcher } from '../operations/watch-changes.js'
import { ENDPOINTS } from './endpoints.js'
import { createLoginLimit } from './login-limit.js'
import { type Env, observe } from './observe.js'
import { problemResponse, RequestError } from './problem.js'
import { createRateLimit } from './rate-limit.js'

/** The whole HTTP side as one function from request to answer, to be served by us or mounted in another server. */
export interface App {
  /** `env` is what the server knows of the connection. */
  fetch(request: Request, env?: unknown): Promise<Response> | Response
  close(): Promise<void>
}

/** Keys have 256 bits: this does not keep them from being guessed, it keeps guessing from becoming a load. */
const FAILURES_PER_SECOND = 20

export function createApp(options: AppOptions): App {
  const { db, log } = options.context
  const keys = createAuthenticator({ db, log, apiKey: options.apiKey, adminPassword: options.adminPassword })
  const watcher = createWatcher(options.context)
  const gate = {
    keys,
    watcher,
    requests: createRateLimit(options.rateLimit),
    failures: createRateLimit(FAILURES_PER_SECOND),
    logins: createLoginLimit(),
  }
  const app = new Hono<Env>()

  // Whether a host is only to be reached by TLS, and its subdomains with it, is not ours to promise.
  app.use('*', secureHeaders({ strictTransportSecurity: false }))
  app.use('*', observe(log))
  for (const endpoint of ENDPOINTS)
    app.on(
      endpoint.method.toUpperCase(),
      endpoint.path.replaceAll(/\{(\w+)\}/g, ':$1'),
      answerRequest(endpoint, options, gate),
    )
  const dashboard = createDashboardFiles(options.dashboardDirectory)
  app.get('/', (c, next) => (asksForJson(c.req.header('accept')) ? next() : c.redirect(adminFrom(options.publicUrl))))
  for (const path of ['/admin', '/admin/*']) app.get(path, (c) => dashboard.answer(c.req.raw, c.req.path))

  const explain = (error: unknown, requestId: string, userAgent: string | undefined) => {
    const response = problemResponse(error, { requestId, userAgent })
    response.headers.set('Cache-Control', 'no-store')
    return response
  }
  app.onError((error, c) => {
    c.set('failure', error)
    return explain(error, c.get('requestId'), c.req.header('user-agent'))
  })
  app.notFound((c) => {
    const allowed = methodsOf(c.req.path)
    const error =
      allowed.length > 0
        ? new RequestError('method_not_allowed', `This resource knows ${allowed.join(', ')}.`, {
            headers: { Allow: allowed.join(', ') },
          })
        : new RequestError('not_found', 'There is nothing here. GET /api/docs shows what there is.')
    return explain(error, c.get('requestId'), c.req.header('user-agent'))
  })

  return {
    fetch: (request, env) => app.fetch(request, env),
    close() {
      watcher.close()
      return keys.close()
    },
  }
}

/** A browser asks for a page, and curl for anything. */
const asksForJson = (accept = '') => /\bjson\b/i.test(accept) && !/\bhtml\b/i.test(accept)

/** Behind a proxy that takes a prefix away, only PUBLIC_URL knows it; else it is beside where the browser is. */
const adminFrom = (publicUrl: string) => {
  const prefix = new URL(publicUrl).pathname.replace(/\/$/, '')
  return prefix === '' ? './admin' : `${prefix}/admin`
}

const SHAPES = ENDPOINTS.map(({ method, path }) => ({
  method: method.toUpperCase(),
  shape: new RegExp(`^${path.replaceAll('.', String.raw`\.`).replaceAll(/\{\w+\}/g, '[^/]+')}$`),
}))

function methodsOf(path: string): string[] {
  const methods = new Set(SHAPES.filter(({ shape }) => shape.test(path)).map(({ method }) => method))
  if (methods.has('GET')) methods.add('HEAD')
  return [...methods]
}
