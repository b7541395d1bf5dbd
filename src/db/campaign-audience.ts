import type { Json } from '../domain/action.js'
import type { Sql } from './client.js'
import { WITH_CONTACTS } from './list-members.js'

/** Who a campaign would go to, before it is planned. */
export interface AudienceMember {
  readonly id: string
  readonly address: string
  readonly name: string | null
  readonly attributes: { readonly [key: string]: Json }
  readonly timezone: string | null
}

// `$1` is the workspace, `$2` the list.
const MAY_BE_MAILED = `
  not exists (select 1 from postrider.opt_outs where list_id = $2 and opt_outs.address = folded_address)
  and not exists (select 1 from postrider.suppressions
    where workspace_id = $1 and suppressions.address = folded_address)`

/**
 * The first members that may be mailed, in the order they will be planned. Each is asked about one by one: as joins, the
 * planner believes that next to nobody is left of a list that many have opted out of, and reads all of it for a few.
 */
export async function sampleAudience(
  sql: Sql,
  workspaceId: string,
  listId: string,
  limit: number,
): Promise<AudienceMember[]> {
  const { rows } = await sql.query<AudienceMember>(
    `select contacts.id, address, name, attributes, timezone
     from postrider.list_members ${WITH_CONTACTS} cross join lateral (select ${MAY_BE_MAILED} as wanted offset 0) asked
     where list_members.list_id = $2 and wanted order by contact_id limit $3`,
    [workspaceId, listId, limit],
  )
  return rows
}

export interface AudienceSize {
  readonly members: number
  /** Null for a list too long to look at everybody at once: those left out are counted while it runs. */
  readonly leftOut: number | null
}

const COUNTED_AT_ONCE = 50_000

export async function measureAudience(sql: Sql, workspaceId: string, listId: string): Promise<AudienceSize> {
  const counted = await sql.query<{ members: number }>(
    `select count(*)::int as members from postrider.list_members where list_id = $1`,
    [listId],
  )
  const { members } = counted.rows[0]!
  if (members > COUNTED_AT_ONCE) return { members, leftOut: null }
  const { rows } = await sql.query<{ open: number }>(
    `select count(*)::int as open from postrider.list_members join postrider.contacts on contacts.id = contact_id
     where list_members.list_id = $2 and ${MAY_BE_MAILED}`,
    [workspaceId, listId],
  )
  return { members, leftOut: members - rows[0]!.open }
}
