import { z } from '@hono/zod-openapi'
import { type AuditEntry, listAudit } from '../../db/audit-log.js'
import { ACTOR_KINDS } from '../../domain/audit.js'
import { showId } from '../../id.js'
import { type Endpoint, keyed } from '../endpoint.js'
import { asList, listOf, pageQuery, readPage } from '../pagination.js'
import { text } from '../read-input.js'

const entrySchema = z
  .strictObject({
    object: z.literal('audit_entry'),
    id: z.string(),
    at: z.iso.datetime(),
    actor: z.string(),
    actor_kind: z
      .enum(ACTOR_KINDS)
      .openapi({ description: 'A visitor is who logs in: the name is what they claimed.' }),
    action: z.string().openapi({ example: 'POST /api/campaigns/{id}/pause' }),
    summary: z.string().openapi({ example: 'Pause a campaign' }),
    target: z.string().nullable().openapi({ description: 'What it was done to, or what was made.' }),
    outcome: z.enum(['done', 'refused', 'failed', 'not_known']).openapi({
      description:
        'not_known: it was begun, and its end was not recorded. It is still under way, or was left in the middle, or the process died, or the database was away.',
    }),
    status: z.int().nullable(),
    problem: z.string().nullable().openapi({ description: 'The code of the problem, if it was refused or failed.' }),
    detail: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])),
    request_id: z.string(),
  })
  .openapi('AuditEntry')

export const auditEndpoints: readonly Endpoint[] = [
  keyed({
    method: 'get',
    path: '/api/admin/audit',
    scope: 'admin',
    tag: 'Dashboard',
    summary: 'What people did',
    description:
      'Newest first, for 365 days: everything that was changed at the dashboard, every login and every attempt at one, and what keys did to campaigns, senders, suppressions, keys and users.',
    query: pageQuery({
      actor: text(1_000).optional().openapi({ description: 'The name of a user or of a key.' }),
      action: text(1_000).optional().openapi({ description: 'Part of the action, or of its summary.' }),
      target: text(1_000).optional().openapi({ description: 'An id.' }),
    }),
    answers: 'A page of entries.',
    answer: listOf(entrySchema),
    async run({ options, caller, query }) {
      const { actor, action, target } = query
      const page = readPage(query, 'aud')
      const filter = {
        ...(actor !== undefined && { actor }),
        ...(action !== undefined && { action }),
        ...(target !== undefined && { target }),
      }
      const { db } = options.context
      const entries = await listAudit(db, caller.workspaceId, filter, { ...page, limit: page.limit + 1 })
      return asList(entries.map(toEntry), page)
    },
  }),
]

const toEntry = (entry: AuditEntry): z.input<typeof entrySchema> => ({
  object: 'audit_entry',
  id: showId('aud', entry.id),
  at: entry.at.toISOString(),
  actor: entry.actor,
  actor_kind: entry.actorKind,
  action: entry.action,
  summary: entry.summary,
  target: entry.target,
  outcome: outcomeOf(entry),
  status: entry.status,
  problem: entry.problem,
  detail: entry.detail,
  request_id: entry.requestId,
})

function outcomeOf({ status }: AuditEntry): z.input<typeof entrySchema>['outcome'] {
  if (status === null) return 'not_known'
  if (status < 400) return 'done'
  return status < 500 ? 'refused' : 'failed'
}
