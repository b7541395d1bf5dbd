import type { EnrollmentState } from '../domain/enrollment.js'
import type { ActionState } from '../domain/states.js'
import type { Position } from '../domain/walk.js'
import { isId } from '../id.js'
import type { Sql } from './client.js'

export interface Enrollment {
  readonly id: string
  readonly workspaceId: string
  readonly campaignId: string
  readonly sequenceId: string
  readonly contactId: string
  /** Of the contact; null once it was removed. */
  readonly address: string | null
  readonly senderId: string
  readonly state: EnrollmentState
  readonly nodeId: string | null
  readonly arrived: boolean
  readonly visit: number
  readonly movedAt: Date
  readonly reasonCode: string | null
  readonly reason: string | null
  /** The email that began its thread, and the subject that one had. */
  readonly threadId: string | null
  readonly threadSubject: string | null
  readonly createdAt: Date
  readonly finishedAt: Date | null
}

const COLUMNS = `id, workspace_id as "workspaceId", campaign_id as "campaignId", sequence_id as "sequenceId",
  contact_id as "contactId", (select address from postrider.contacts where contacts.id = contact_id) as address, sender_id as "senderId", state, node_id as "nodeId", arrived, visit, moved_at as "movedAt",
  reason_code as "reasonCode", reason, thread_id as "threadId", thread_subject as "threadSubject",
  created_at as "createdAt", finished_at as "finishedAt"`

export type NewEnrollment = Pick<
  Enrollment,
  'id' | 'campaignId' | 'sequenceId' | 'contactId' | 'senderId' | 'nodeId' | 'arrived' | 'visit'
>

/** Returns the ids that were written: whoever walks the sequence already, or has, is left as they are. */
export async function insertEnrollments(
  tx: Sql,
  workspaceId: string,
  enrollments: readonly NewEnrollment[],
): Promise<ReadonlySet<string>> {
  if (enrollments.length === 0) return new Set()
  const { rows } = await tx.query<{ id: string }>(
    `insert into postrider.enrollments (id, workspace_id, campaign_id, sequence_id, contact_id, sender_id, node_id, arrived,
       visit, moved_at, created_at)
     select id, $1, "campaignId", "sequenceId", "contactId", "senderId", "nodeId", arrived, visit, ${tx.now}, ${tx.now}
     from json_to_recordset($2::json) as row (id uuid, "campaignId" uuid, "sequenceId" uuid, "contactId" uuid,
       "senderId" uuid, "nodeId" text, arrived boolean, visit int)
     order by "contactId"
     on conflict (contact_id, sequence_id) do nothing returning id`,
    [workspaceId, JSON.stringify(enrollments)],
  )
  return new Set(rows.map(({ id }) => id))
}

export const findEnrollment = (sql: Sql, workspaceId: string, id: string) => find(sql, workspaceId, id, '')

/** Whoever moves an enrollment holds its row: an event and the timeout it races come one after the other. */
export const lockEnrollment = (tx: Sql, workspaceId: string, id: string) => find(tx, workspaceId, id, 'for update')

/**
 * Several that one event moves: all of them, then their campaigns, then their senders, each in the order of ids. Locked
 * one after the other instead, whoever has ended the first holds its sender, and waits for the second, whose timeout may
 * wait for that sender. In the order of their senders, because that is the order in which days are locked.
 */
export async function lockWalks(tx: Sql, workspaceId: string, ids: readonly string[]): Promise<Enrollment[]> {
  const { rows } = await tx.query<Enrollment>(
    `select ${COLUMNS} from postrider.enrollments where workspace_id = $1 and id = any ($2::uuid[]) order by id for update`,
    [workspaceId, ids],
  )
  if (rows.length < 2) return rows
  const campaignIds = rows.map(({ campaignId }) => campaignId)
  await tx.query(`select 1 from postrider.campaigns where id = any ($1::uuid[]) order by id for update`, [campaignIds])
  const senderIds = rows.map(({ senderId }) => senderId)
  await tx.query(`select 1 from postrider.senders where id = any ($1::uuid[]) order by id for no key update`, [
    senderIds,
  ])
  return rows.toSorted((a, b) => (a.senderId < b.senderId ? -1 : a.senderId > b.senderId ? 1 : 0))
}

async function find(sql: Sql, workspaceId: string, id: string, lock: string): Promise<Enrollment | null> {
  if (!isId(id)) return null
  const { rows } = await sql.query<Enrollment>(
    `select ${COLUMNS} from postrider.enrollments where workspace_id = $1 and id = $2 ${lock}`,
    [workspaceId, id],
  )
  return rows[0] ?? null
}

/** The first of its emails that has not gone out. */
export interface NextEmail {
  readonly nodeId: string
  readonly state: ActionState
  readonly reasonCode: string | null
  readonly runAt: Date
}

export interface ListedEnrollment extends Enrollment {
  /** Null when none is planned, and once it is over. */
  readonly next: NextEmail | null
}

const NEXT = `(select json_build_object('nodeId', action.node_id, 'state', action.state, 'reasonCode', action.reason_code,
    'runAt', action.run_at)
  from postrider.scheduled_actions action
  where action.enrollment_id = enrollments.id and action.type = 'send' and action.state <> 'done' and finished_at is null
  order by action.created_at, action.id limit 1) as next`

export interface EnrollmentFilter {
  readonly campaignId?: string
  readonly contactId?: string
  readonly state?: EnrollmentState
}

/** Newest first. */
export async function listEnrollments(
  sql: Sql,
  workspaceId: string,
  { campaignId, contactId, state }: EnrollmentFilter,
  { limit, after, before }: { readonly limit: number; readonly after?: string; readonly before?: string },
): Promise<ListedEnrollment[]> {
  const { rows } = await sql.query<ListedEnrollment>(
    `select ${COLUMNS}, ${NEXT} from postrider.enrollments
     where workspace_id = $1 and ($2::uuid is null or campaign_id = $2) and ($3::uuid is null or contact_id = $3)
       and ($4::text is null or state = $4) and ($5::uuid is null or id < $5) and ($6::uuid is null or id > $6)
     order by id ${before === undefined ? 'desc' : 'asc'} limit $7`,
    [workspaceId, campaignId ?? null, contactId ?? null, state ?? null, after ?? null, before ?? null, limit],
  )
  // JSON knows no dates.
  const listed = rows.map((row) => ({ ...row, next: row.next && { ...row.next, runAt: new Date(row.next.runAt) } }))
  return before === undefined ? listed : listed.toReversed()
}

/** Of these contacts, or the one an email belongs to; in an order, so that two who lock several do so alike. */
export async function findOpenEnrollments(
  sql: Sql,
  workspaceId: string,
  of: { readonly contactIds: readonly string[] } | { readonly emailId: string },
): Promise<{ readonly id: string }[]> {
  const { rows } =
    'emailId' in of
      ? await sql.query<{ id: string }>(
          `select enrollments.id from postrider.scheduled_actions action
             join postrider.enrollments on enrollments.id = action.enrollment_id
           where action.id = $2 and action.workspace_id = $1 and finished_at is null`,
          [workspaceId, of.emailId],
        )
      : await sql.query<{ id: string }>(
          `select id from postrider.enrollments
           where workspace_id = $1 and contact_id = any ($2::uuid[]) and finished_at is null order by id`,
          [workspaceId, of.contactIds],
        )
  return rows
}

/** Called under `lockEnrollment`. */
export async function moveEnrollment(tx: Sql, { id, visit }: Enrollment, { nodeId, arrived }: Position): Promise<void> {
  await tx.query(
    `update postrider.enrollments set node_id = $2, arrived = $3, visit = $4, moved_at = ${tx.now} where id = $1`,
    [id, nodeId, arrived, visit + 1],
  )
}

/** Called under `lockEnrollment`. Without a reason it came to the end; with one it stays where it was. */
export async function finishEnrollment(
  tx: Sql,
  { id }: Pick<Enrollment, 'id'>,
  why: { readonly code: string; readonly reason: string } | null,
): Promise<void> {
  await tx.query(
    why
      ? `update postrider.enrollments set state = 'stopped', reason_code = $2, reason = $3, finished_at = ${tx.now}
         where id = $1`
      : `update postrider.enrollments set state = 'completed', node_id = null, arrived = true, finished_at = ${tx.now}
         where id = $1`,
    why ? [id, why.code, why.reason] : [id],
  )
}

/** Called under `lockEnrollment`. */
export async function setEnrollmentState(tx: Sql, { id }: Enrollment, state: 'active' | 'paused'): Promise<Enrollment> {
  const { rows } = await tx.query<Enrollment>(
    `update postrider.enrollments set state = $2 where id = $1 returning ${COLUMNS}`,
    [id, state],
  )
  return rows[0]!
}

/** The first email of a thread is about to be handed over: those after it answer to it. */
export async function beginThread(sql: Sql, id: string, emailId: string, subject: string): Promise<void> {
  await sql.query(`update postrider.enrollments set thread_id = $2, thread_subject = $3 where id = $1`, [
    id,
    emailId,
    subject,
  ])
}

/** Ends all of a campaign that was canceled. Locks them in the order everybody does. */
export async function lockOpenEnrollments(tx: Sql, workspaceId: string, campaignId: string): Promise<void> {
  await tx.query(
    `select id from postrider.enrollments
     where workspace_id = $1 and campaign_id = $2 and finished_at is null order by id for update`,
    [workspaceId, campaignId],
  )
}

export async function stopEnrollmentsOf(
  tx: Sql,
  campaignId: string,
  { code, reason }: { readonly code: string; readonly reason: string },
): Promise<number> {
  const { rowCount } = await tx.query(
    `update postrider.enrollments set state = 'stopped', reason_code = $2, reason = $3, finished_at = ${tx.now}
     where campaign_id = $1 and finished_at is null`,
    [campaignId, code, reason],
  )
  return rowCount ?? 0
}

export async function hasOpenEnrollments(sql: Sql, campaignId: string): Promise<boolean> {
  const { rows } = await sql.query<{ open: boolean }>(
    `select exists (select 1 from postrider.enrollments where campaign_id = $1 and finished_at is null) as open`,
    [campaignId],
  )
  return rows[0]!.open
}

export async function countEnrollments(
  sql: Sql,
  campaignId: string,
): Promise<Readonly<Record<EnrollmentState, number>>> {
  const { rows } = await sql.query<{ state: EnrollmentState; count: number }>(
    `select state, count(*)::int as count from postrider.enrollments where campaign_id = $1 group by state`,
    [campaignId],
  )
  const counts = { active: 0, paused: 0, completed: 0, stopped: 0 }
  for (const { state, count } of rows) counts[state] = count
  return counts
}
