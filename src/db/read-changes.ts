import { firstIdAt } from '../id.js'
import type { Sql } from './client.js'

/**
 * What has happened in a workspace since an instant of the database's clock, for those who look on. It is read from what
 * is written anyway: nothing on the way of an email writes for its spectators.
 *
 * Rows carry the instant their transaction began, and become visible when it commits: in another order, and ids are made
 * by processes, in a third. So nobody can read on from the last row seen. `readHorizon` says how far everything is
 * decided: what began before that has been committed or never will be, so whoever has read up to a horizon goes on from
 * it. What lies behind it and was visible already is read again, and its key says so.
 */
export interface Change {
  readonly kind: ChangeKind
  /** The same thing that happened once. */
  readonly key: string
  readonly id: string
  readonly what: string
  readonly about: string | null
}

export const CHANGE_KINDS = [
  'accepted',
  'planned',
  'attempt',
  'event',
  'campaign',
  'enrollment',
  'sender',
  'import',
] as const
export type ChangeKind = (typeof CHANGE_KINDS)[number]

/** Of each kind, the newest. */
export const MOST_CHANGES = 20_000

/** How much earlier than its row an id may have been made: by a clock that is off, or by waiting for the database. */
const SKEW_MS = 10_000

export interface Horizon {
  readonly now: Date
  /** Whatever began earlier is over. */
  readonly horizon: Date
}

/** Nobody waits longer than this for somebody else's transaction. */
const LONGEST_TRANSACTION = `interval '30 seconds'`
/** Of other users of the database one may not see what they are at. */
const UNSEEN = `interval '5 seconds'`
/** Between taking the time and telling of it. */
const MOMENT = `interval '100 milliseconds'`

export async function readHorizon(sql: Sql): Promise<Horizon> {
  const { rows } = await sql.query<Horizon>(
    `select ${sql.now} as now, greatest(${sql.now} - ${LONGEST_TRANSACTION},
         ${sql.now} - (now() - least(now(), oldest)) - ${MOMENT} - case when unseen then ${UNSEEN} else interval '0' end) as horizon
     from (select min(xact_start) as oldest, coalesce(bool_or(backend_type is null), false) as unseen
       from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
         and (backend_type is null or backend_type = 'client backend')) others`,
  )
  return rows[0]!
}

const latest = (order: string) => `order by ${order} desc limit ${MOST_CHANGES}`

const changes = `
  (select 'accepted' as kind, message.id::text as key, message.id, 'accepted' as what, left(subject, 200) as about
   from postrider.messages message
   where workspace_id = $1 and message.id >= $3 and created_at >= $2 ${latest('message.id')})
  union all
  (select 'planned', action.id::text, action.id, 'planned', payload ->> 'recipient'
   from postrider.scheduled_actions action
   where workspace_id = $1 and contact_id is not null and action.id >= $3 and created_at >= $2 ${latest('action.id')})
  union all
  (select 'attempt', attempt.id::text, coalesce(action.message_id, action.id), outcome, failure
   from postrider.attempts attempt join postrider.scheduled_actions action on action.id = action_id
   where attempt.at >= $2 and workspace_id = $1 ${latest('attempt.at')})
  union all
  (select 'event', event.id::text, event.id, type, coalesce(email_id, contact_id)::text
   from postrider.events event where workspace_id = $1 and event.id >= $3 and at >= $2 ${latest('event.id')})
  union all
  (select 'campaign', campaign.id::text || updated_at::text, campaign.id, status, name
   from postrider.campaigns campaign where workspace_id = $1 and updated_at >= $2 ${latest('updated_at')})
  union all
  (select 'enrollment', walk.id::text, walk.id, 'started', null
   from postrider.enrollments walk where workspace_id = $1 and walk.id >= $3 and created_at >= $2 ${latest('walk.id')})
  union all
  (select 'sender', sender.id::text || updated_at::text, sender.id,
     case when paused_at is null then 'active' else 'paused' end, address
   from postrider.senders sender where workspace_id = $1 and updated_at >= $2 ${latest('updated_at')})
  union all
  (select 'import', import.id::text || updated_at::text, import.id, status, null
   from postrider.imports import where workspace_id = $1 and updated_at >= $2 ${latest('updated_at')})`

/** Newest first within each kind. */
export async function readChanges(sql: Sql, workspaceId: string, since: Date): Promise<Change[]> {
  const firstId = firstIdAt(new Date(Math.max(0, since.getTime() - SKEW_MS)))
  const { rows } = await sql.query<Change>(changes, [workspaceId, since, firstId])
  return rows
}
