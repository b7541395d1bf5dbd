import type { Campaign } from './campaigns.js'
import type { Sql } from './client.js'
import { DUE_HINTS } from './due-hints.js'

/** Who a bulk campaign goes to next, read as its batches will read it (plan-campaign-batch), and writing nothing. */
export interface BulkPerson {
  readonly contactId: string
  readonly address: string
  /** By the opt-outs of the list and the suppressions. */
  readonly mayBeMailed: boolean
}

const FIRST = '00000000-0000-0000-0000-000000000000'

const MAY_BE_MAILED = `
  not exists (select 1 from postrider.opt_outs where list_id = $2 and opt_outs.address = folded_address)
  and not exists (select 1 from postrider.suppressions
    where workspace_id = $1 and suppressions.address = folded_address)`

export async function readBulkPeople(
  sql: Sql,
  { workspaceId, listId }: Campaign,
  after: string | null,
  limit: number,
): Promise<BulkPerson[]> {
  const { rows } = await sql.query<BulkPerson>(
    `select contacts.id as "contactId", address, ${MAY_BE_MAILED} as "mayBeMailed" from (
       select contact_id from postrider.list_members where list_id = $2 and contact_id > $3 order by contact_id limit $4
     ) page join postrider.contacts on contacts.id = contact_id order by contacts.id`,
    [workspaceId, listId, after ?? FIRST, limit],
  )
  return rows
}

/** How many of those that are left may be mailed. */
export async function countBulkPeople(
  sql: Sql,
  { workspaceId, listId }: Campaign,
  after: string | null,
): Promise<number> {
  const { rows } = await sql.query<{ count: number }>(
    `select count(*)::int as count from postrider.list_members join postrider.contacts on contacts.id = contact_id
     where list_members.list_id = $2 and contact_id > $3 and ${MAY_BE_MAILED}`,
    [workspaceId, listId, after ?? FIRST],
  )
  return rows[0]!.count
}

/** An email that is planned and has not gone out. */
export interface UpcomingEmail {
  readonly id: string
  readonly contactId: string
  readonly address: string
  readonly runAt: Date
}

const COLUMNS = `id, contact_id as "contactId", payload ->> 'recipient' as address, run_at as "runAt"`

/** Those that are due or being handed over, of which there are never many: planning waits for them. */
export async function readReadyEmails(sql: Sql, { id }: Campaign): Promise<UpcomingEmail[]> {
  const { rows } = await sql.query<UpcomingEmail>(
    `select ${COLUMNS} from postrider.scheduled_actions
     where id = any (array(select unnest(action_ids) from ${DUE_HINTS} hint where lane_id = $1))
       and lane_id = $1 and state = 'pending' and wake_at is null and contact_id is not null
     union all
     select ${COLUMNS} from postrider.scheduled_actions
     where id = any (array(select unnest(action_ids) from postrider.leases))
       and lane_id = $1 and state in ('leased', 'armed') and contact_id is not null`,
    [id],
  )
  return rows
}

/** Those that wait for a time: moved, or to be tried again. */
export async function readWaitingEmails(
  sql: Sql,
  { id }: Campaign,
  { after = FIRST, limit }: { readonly after?: string | undefined; readonly limit: number },
): Promise<UpcomingEmail[]> {
  const { rows } = await sql.query<UpcomingEmail>(
    `select ${COLUMNS} from postrider.scheduled_actions
     where lane_id = $1 and wake_at is not null and message_id is not null and contact_id is not null and message_id > $2
     order by message_id limit $3`,
    [id, after, limit],
  )
  return rows
}

/** On the list, and not looked at by a batch yet. */
export async function countUnplanned(sql: Sql, { listId, lastCursor }: Campaign): Promise<number> {
  const { rows } = await sql.query<{ count: number }>(
    `select count(*)::int as count from postrider.list_members where list_id = $1 and contact_id > $2`,
    [listId, lastCursor ?? FIRST],
  )
  return rows[0]!.count
}
