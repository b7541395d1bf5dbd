import { OpenAPIHono, type RouteConfig, z } from '@hono/zod-openapi'
import { DASHBOARD_ROLES, scopesOfRole } from '../domain/dashboard-role.js'
import { VERSION } from '../version.js'
import { type Endpoint, isSafe, schemaOf } from './endpoint.js'
import { problemSchema } from './problem.js'
import { type ProblemCode, statusOfCode, titleOfCode } from './problem-codes.js'
import { DASHBOARD_HEADER } from './refuse-cross-site.js'
import { SESSION_COOKIE } from './session-cookie.js'

/** OpenAPI 3.1 of all endpoints, from the same data that answers them. */
export type OpenApiDocument = ReturnType<OpenAPIHono['getOpenAPI31Document']>

const INFO = {
  title: 'Postrider',
  version: VERSION,
  description:
    'A durable email engine: no email goes out twice, none is lost, and the one instant nobody can decide is shown instead of guessed.',
}

export function describeApi(endpoints: readonly Endpoint[]): OpenApiDocument {
  const { openAPIRegistry: registry, getOpenAPI31Document } = new OpenAPIHono()
  registry.registerComponent('securitySchemes', 'apiKey', {
    type: 'http',
    scheme: 'bearer',
    description: 'An API key with the scope the operation names.',
  })
  registry.registerComponent('securitySchemes', 'session', {
    type: 'apiKey',
    in: 'cookie',
    name: SESSION_COOKIE,
    description: `Somebody logged in to the dashboard, with the role the operation names. Without Authorization only; what changes something also needs the header ${DASHBOARD_HEADER}: 1.`,
  })
  registry.registerComponent('securitySchemes', 'cronSecret', {
    type: 'http',
    scheme: 'bearer',
    description: 'The value of CRON_SECRET.',
  })
  for (const endpoint of endpoints) registry.registerPath(describe(endpoint))
  return getOpenAPI31Document({ openapi: '3.1.0', info: INFO })
}

function describe(endpoint: Endpoint): RouteConfig {
  const { method, path, tag, summary, description, query, body, stream, bodyOptional, example, headers } = endpoint
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!)
  return {
    method,
    path,
    operationId: operationIdOf(endpoint),
    tags: [tag],
    summary,
    ...(description !== undefined && { description }),
    security: securityOf(endpoint),
    request: {
      ...(names.length > 0 && { params: z.object(Object.fromEntries(names.map((name) => [name, z.string()]))) }),
      ...(query && { query: query as z.ZodObject }),
      ...(headers && { headers: headersOf(headers) }),
      ...(body && {
        body: {
          required: bodyOptional !== true,
          content: { 'application/json': { schema: body, ...(example !== undefined && { example }) } },
        },
      }),
      ...(stream && {
        body: { required: true, content: { [stream.contentType]: { schema: z.string(), example } } },
      }),
    },
    responses: {
      [endpoint.status ?? 200]: {
        description: endpoint.answers,
        content: contentOf(endpoint),
      },
      ...(endpoint.otherwise && {
        [endpoint.otherwise.status]: { description: endpoint.otherwise.answers, content: contentOf(endpoint) },
      }),
      ...problemsOf(endpoint),
    },
  }
}

function securityOf(endpoint: Endpoint): Record<string, string[]>[] {
  if (!('scope' in endpoint)) return endpoint.access === 'cron' ? [{ cronSecret: [] }] : []
  const role = DASHBOARD_ROLES.find((each) => scopesOfRole(each).includes(endpoint.scope))!
  return [{ apiKey: [endpoint.scope] }, { session: [role] }]
}

const headersOf = (headers: Readonly<Record<string, string>>) =>
  z.object(
    Object.fromEntries(
      Object.entries(headers).map(([name, description]) => [name, z.string().optional().openapi({ description })]),
    ),
  )

function contentOf(endpoint: Endpoint): Record<string, { schema: z.ZodType }> {
  const schema = schemaOf(endpoint)
  if (schema) return { 'application/json': { schema } }
  const { contentType } = endpoint.answer as { contentType: string }
  return { [contentType]: { schema: z.string() } }
}

/** `post /api/emails/{id}/cancel` → `post_emails_id_cancel`: stable, and a name in every language. */
const operationIdOf = ({ method, path }: Endpoint) =>
  `${method}_${path.replace(/^\/api\//, '').replaceAll(/[^a-z]+/g, '_')}`.replaceAll(/^_+|_+$/g, '')

/** By status, each with the codes that may come with it. */
function problemsOf(endpoint: Endpoint): RouteConfig['responses'] {
  const isKeyed = 'scope' in endpoint
  const isLogin = !isKeyed && endpoint.access === 'login'
  const codes: ProblemCode[] = [
    ...(isKeyed ? (['unauthorized', 'forbidden', 'rate_limited', 'database_unavailable'] as const) : []),
    ...(isLogin ? (['rate_limited', 'database_unavailable'] as const) : []),
    ...(isLogin || (isKeyed && !isSafe(endpoint)) ? (['cross_site_request'] as const) : []),
    ...(endpoint.query ? (['request_invalid'] as const) : []),
    ...(endpoint.body
      ? (['json_malformed', 'body_too_large', 'content_type_unsupported', 'request_invalid'] as const)
      : []),
    ...(endpoint.stream ? (['body_too_large', 'content_type_unsupported', 'request_invalid'] as const) : []),
    ...(/\{\w+\}/.test(endpoint.path) && !endpoint.problems?.some((code) => statusOfCode(code) === 404)
      ? (['not_found'] as const)
      : []),
    ...(endpoint.problems ?? []),
    'internal_error',
  ]
  const statuses = [...new Set(codes.map(statusOfCode))]
  return Object.fromEntries(
    statuses.map((status) => [
      status,
      {
        description: [...new Set(codes)]
          .filter((code) => statusOfCode(code) === status)
          .map((code) => `${code}: ${titleOfCode(code)}`)
          .join(' '),
        content: { 'application/problem+json': { schema: problemSchema } },
      },
    ]),
  )
}
