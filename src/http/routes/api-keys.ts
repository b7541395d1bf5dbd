import { z } from '@hono/zod-openapi'
import { type ApiKey, listApiKeys } from '../../db/api-keys.js'
import { listWorkspaces } from '../../db/workspaces.js'
import { SCOPES } from '../../domain/scopes.js'
import { showId } from '../../id.js'
import { createApiKey, revokeApiKey } from '../../operations/api-keys.js'
import { type Endpoint, keyed } from '../endpoint.js'
import { asList, listOf, pageOf, pageQuery, readPage } from '../pagination.js'
import { RequestError } from '../problem.js'
import { fields, text } from '../read-input.js'

const apiKeyShape = {
  object: z.literal('api_key'),
  id: z.string(),
  name: z.string(),
  prefix: z.string().openapi({ description: 'The first letters, to tell keys apart.' }),
  scopes: z.array(z.enum(SCOPES)),
  created_at: z.iso.datetime(),
  last_used_at: z.iso.datetime().nullable(),
  revoked_at: z.iso.datetime().nullable(),
}
const apiKeySchema = z.strictObject(apiKeyShape).openapi('ApiKey')

const common = { tag: 'API keys', scope: 'admin' } as const

export const apiKeyEndpoints: readonly Endpoint[] = [
  keyed({
    ...common,
    method: 'get',
    path: '/api/api-keys',
    summary: 'List API keys',
    description: 'Also the revoked ones.',
    query: pageQuery({}),
    answers: 'A page of keys.',
    answer: listOf(apiKeySchema),
    async run({ options, caller, query }) {
      const page = readPage(query, 'key')
      const keys = await listApiKeys(options.context.db, caller.workspaceId)
      return asList(pageOf(keys, page).map(toApiKey), page)
    },
  }),
  keyed({
    ...common,
    method: 'post',
    path: '/api/api-keys',
    summary: 'Make an API key',
    description: 'The key itself is shown once, in this answer.',
    body: fields({
      name: text(1_000),
      scopes: z.array(z.enum(SCOPES)).max(SCOPES.length, `at most ${SCOPES.length}`),
    }).openapi('NewApiKey'),
    example: { name: 'shop', scopes: ['send'] },
    status: 201,
    answers: 'The key.',
    answer: z.strictObject({ ...apiKeyShape, key: z.string() }).openapi('MadeApiKey'),
    problems: ['key_invalid'],
    async run({ options, caller, body }) {
      const { key, apiKey } = await createApiKey(options.context.db, caller.workspaceId, body)
      return { ...toApiKey(apiKey), key }
    },
  }),
  keyed({
    ...common,
    method: 'delete',
    path: '/api/api-keys/{id}',
    summary: 'Revoke an API key',
    description: 'At once here; in other processes within five seconds.',
    answers: 'The key, revoked.',
    answer: apiKeySchema,
    problems: ['key_not_found'],
    async run(call) {
      const revoked = await revokeApiKey(call.options.context.db, call.caller.workspaceId, call.id('key'))
      call.keys.forget(revoked.id)
      return toApiKey(revoked)
    },
  }),
  keyed({
    method: 'get',
    path: '/api/workspaces/current',
    scope: 'read',
    tag: 'API keys',
    summary: 'Whose key this is',
    answers: 'The workspace, and what the key may do.',
    answer: z
      .strictObject({
        object: z.literal('workspace'),
        name: z.string(),
        created_at: z.iso.datetime(),
        key: z.strictObject({ name: z.string(), scopes: z.array(z.enum(SCOPES)) }),
      })
      .openapi('Workspace'),
    async run({ options, caller }) {
      const workspaces = await listWorkspaces(options.context.db)
      const own = workspaces.find(({ id }) => id === caller.workspaceId)
      if (!own) throw new RequestError('not_found', 'The workspace of this key is gone.')
      return {
        object: 'workspace' as const,
        name: own.name,
        created_at: own.createdAt.toISOString(),
        key: { name: caller.name, scopes: knownScopes(caller.scopes) },
      }
    },
  }),
]

const knownScopes = (scopes: readonly string[]) => SCOPES.filter((scope) => scopes.includes(scope))

const toApiKey = (key: ApiKey): z.input<typeof apiKeySchema> => ({
  object: 'api_key',
  id: showId('key', key.id),
  name: key.name,
  prefix: key.prefix,
  scopes: knownScopes(key.scopes),
  created_at: key.createdAt.toISOString(),
  last_used_at: key.lastUsedAt?.toISOString() ?? null,
  revoked_at: key.revokedAt?.toISOString() ?? null,
})
