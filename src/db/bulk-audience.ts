import type { ActionState } from '../domain/states.js'
import type { Campaign } from './campaigns.js'
import type { Sql } from './client.js'

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

const UPCOMING = ['pending', 'leased', 'armed'] as const satisfies ActionState[]

export async function readUpcomingEmails(
  sql: Sql,
  { id, workspaceId }: Campaign,
  { after = FIRST, limit }: { readonly after?: string | undefined; readonly limit: number },
): Promise<UpcomingEmail[]> {
  const { rows } = await sql.query<UpcomingEmail>(
    `select id, contact_id as "contactId", payload ->> 'recipient' as address, run_at as "runAt"
     from postrider.scheduled_actions
     where workspace_id = $1 and lane_id = $2 and type = 'send' and contact_id is not null and state = any ($3::text[])
       and id > $4 order by id limit $5`,
    [workspaceId, id, UPCOMING, after, limit],
  )
  return rows
}
