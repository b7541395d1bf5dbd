import type { z } from '@hono/zod-openapi'
import type { Scope } from '../domain/scopes.js'
import type { IdPrefix } from '../id.js'
import type { Watcher } from '../operations/watch-changes.js'
import type { AppOptions } from './app-options.js'
import type { Authenticator, Caller } from './authenticate.js'
import type { ProblemCode } from './problem-codes.js'

/**
 * One operation of the API, as data: the router, the checks before it, the OpenAPI document and the test that tries
 * every route with every wrong key are all made from the same list.
 */
interface Description<Query extends z.ZodType, Body extends z.ZodType, Answer extends z.ZodType> {
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete'
  /** In OpenAPI's way of writing it: `/api/emails/{id}`. */
  readonly path: string
  readonly tag: string
  readonly summary: string
  readonly description?: string
  readonly query?: Query
  readonly body?: Body
  /** The body is of this content type and is read by the endpoint itself, as it comes. */
  readonly stream?: { readonly contentType: string; readonly limit: number }
  /** Without a body, the body is `{}`. */
  readonly bodyOptional?: boolean
  /** A body in the documentation's curl line. */
  readonly example?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly status?: number
  readonly answers: string
  /** Another success, chosen by `setStatus`, with an answer of the same shape. */
  readonly otherwise?: { readonly status: number; readonly answers: string }
  /** JSON of this shape; or another content type. */
  readonly answer: Answer | { readonly contentType: string }
  /** What can go wrong beyond what can go wrong everywhere. */
  readonly problems?: readonly ProblemCode[]
  /** In the audit log although its scope is `read`. */
  readonly audited?: true
}

/** A request that passed all checks. */
export interface OpenCall<Query, Body> {
  readonly options: AppOptions
  readonly query: Query
  readonly body: Body
  /** Of an endpoint with `stream`. */
  readonly stream: AsyncIterable<Uint8Array>
  /** The fields of a form, their names in lower case; none for a body that is no form. */
  form(): Promise<ReadonlyMap<string, string>>
  param(name: string): string
  header(name: string): string | undefined
  setHeader(name: string, value: string): void
  setStatus(status: number): void
}

export interface Call<Query, Body> extends OpenCall<Query, Body> {
  readonly caller: Caller
  readonly keys: Authenticator
  readonly watcher: Watcher
  /** The entry of the audit log, if it has one. */
  readonly deed: string | null
  /** The id in the path; 404 for what is none, as for one that is another workspace's. */
  id(prefix: IdPrefix, param?: string): string
}

/** Who says to be somebody, before it is known whether they are. */
export interface Visitor {
  /** What failures are counted by; null when there is nothing to guess. */
  readonly claims: string | null
  /** The user of that name, if there is one: what else people type into such a field does not belong in a log. */
  readonly name: string | null
  readonly workspaceId: string
}

export interface LoginCall<Query, Body> extends OpenCall<Query, Body> {
  /** The session the browser had before, if it had one. */
  readonly sessionToken: string | null
}

type Result<Answer extends z.ZodType> = Promise<z.input<Answer> | Response>

interface Keyed<Query extends z.ZodType, Body extends z.ZodType, Answer extends z.ZodType> extends Description<
  Query,
  Body,
  Answer
> {
  readonly scope: Scope
  run(call: Call<z.output<Query>, z.output<Body>>): Result<Answer>
}

interface Open<Query extends z.ZodType, Body extends z.ZodType, Answer extends z.ZodType> extends Description<
  Query,
  Body,
  Answer
> {
  /** `cron`: with CRON_SECRET instead of an API key, checked by the endpoint itself. */
  readonly access: 'open' | 'cron'
  run(call: OpenCall<z.output<Query>, z.output<Body>>): Result<Answer>
}

interface Login<Query extends z.ZodType, Body extends z.ZodType, Answer extends z.ZodType> extends Description<
  Query,
  Body,
  Answer
> {
  /** For who is not logged in yet: from the dashboard's own pages only, counted when it fails, and in the audit log. */
  readonly access: 'login'
  who(call: OpenCall<z.output<Query>, z.output<Body>>): Promise<Visitor>
  run(call: LoginCall<z.output<Query>, z.output<Body>>): Result<Answer>
}

export type KeyedEndpoint = Keyed<z.ZodType, z.ZodType, z.ZodType>
export type OpenEndpoint = Open<z.ZodType, z.ZodType, z.ZodType>
export type LoginEndpoint = Login<z.ZodType, z.ZodType, z.ZodType>
export type Endpoint = KeyedEndpoint | OpenEndpoint | LoginEndpoint

// These do nothing but let the types of an endpoint's own function follow from its schemas.
export const keyed = <Query extends z.ZodType, Body extends z.ZodType, Answer extends z.ZodType>(
  endpoint: Keyed<Query, Body, Answer>,
): Endpoint => endpoint

export const open = <Query extends z.ZodType, Body extends z.ZodType, Answer extends z.ZodType>(
  endpoint: Open<Query, Body, Answer>,
): Endpoint => endpoint

export const login = <Query extends z.ZodType, Body extends z.ZodType, Answer extends z.ZodType>(
  endpoint: Login<Query, Body, Answer>,
): Endpoint => endpoint

export const isSafe = ({ method }: Pick<Endpoint, 'method'>): boolean => method === 'get'

export const schemaOf = ({ answer }: Endpoint): z.ZodType | null => ('contentType' in answer ? null : answer)
