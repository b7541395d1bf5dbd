import type { AuditDetail } from '../db/audit-log.js'
import { readId } from '../id.js'
import type { Part } from '../operations/audit.js'

/**
 * What of a request's body is kept in the audit log. Only what is named here: a field that is added later, and may hold
 * a secret or the text of an email, stays out until somebody has thought about it.
 */
const SCALARS = new Set([
  'address',
  'batch_size',
  'contact_id',
  'daily_quota',
  'delivery',
  'email',
  'email_id',
  'end_hour',
  'event',
  'expires_at',
  'follow_pace',
  'gap_max_seconds',
  'gap_min_seconds',
  'hourly_limit',
  'in_all',
  'list_id',
  'name',
  'outcome',
  'provider',
  'q',
  'ramp_up_enabled',
  'ramp_up_start',
  'ramp_up_step',
  'reason',
  'role',
  'scheduled_at',
  'scope',
  'sender_id',
  'sequence_id',
  'start_hour',
  'status',
  'subscribed',
  'template_id',
  'timezone',
  'to',
])

/** Kept whole, if it is short. */
const LISTS = new Set(['blackout_dates', 'scopes', 'sender_ids', 'sending_days', 'to'])

/** Of these it is kept how many there were. */
const COUNTED = new Set(['contact_ids', 'contacts', 'emails', 'ids'])

const LONGEST = 200

/** Nothing is done: somebody asks what it would be. */
export const isQuestion = (body: unknown): boolean =>
  (body as { dry_run?: unknown } | null | undefined)?.dry_run === true

interface PartBody {
  readonly in_all?: unknown
  readonly deed?: unknown
  readonly ids?: unknown
}

/** Whether the body is a part of a deed that is done in several, each of which names what it is about. */
export function partOf(body: unknown): Part | undefined {
  const { in_all: inAll, deed, ids } = (body ?? {}) as PartBody
  if (typeof inAll !== 'number' || !Array.isArray(ids)) return undefined
  return { deed: typeof deed === 'string' ? readId('aud', deed) : null, size: new Set(ids).size }
}

/** The same for every part of it. */
export const detailOfPart = (body: unknown): AuditDetail => {
  const { ids_count: _, ...detail } = detailOf(body)
  return detail
}

export function detailOf(body: unknown): AuditDetail {
  // A batch of emails is a list as a whole.
  if (Array.isArray(body)) return { count: body.length }
  if (typeof body !== 'object' || body === null) return {}
  return Object.fromEntries(Object.entries(body).flatMap(([name, value]) => keep(name, value)))
}

function keep(name: string, value: unknown): [string, string | number | boolean | null][] {
  if (Array.isArray(value)) {
    if (LISTS.has(name)) return [[name, value.filter(isScalar).join(', ').slice(0, LONGEST)]]
    return COUNTED.has(name) ? [[`${name}_count`, value.length]] : []
  }
  if (!SCALARS.has(name) || !isScalar(value)) return []
  return [[name, typeof value === 'string' ? value.slice(0, LONGEST) : value]]
}

const isScalar = (value: unknown): value is string | number | boolean | null =>
  value === null || ['string', 'number', 'boolean'].includes(typeof value)
