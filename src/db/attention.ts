import type { Sql } from './client.js'

/** What waits for a person: failed and uncertain actions by what happened to them, and imports that ended early. */
export interface AttentionGroup {
  /** `send` for emails; a campaign's planning or a walk's wait otherwise. */
  readonly isEmail: boolean
  readonly state: 'failed' | 'uncertain'
  readonly code: string | null
  readonly count: number
  /** The newest one's, in the server's words or ours. */
  readonly reason: string | null
}

export interface Attention {
  readonly groups: readonly AttentionGroup[]
  /** There are more than were looked at: the counts are those of the newest. */
  readonly capped: boolean
}

/** Each is a row to be read, from anywhere in the table: some milliseconds for a bad day, and no more for a bad week. */
const LOOKED_AT = 5_000

export async function readAttention(sql: Sql, workspaceId: string): Promise<Attention> {
  const { rows } = await sql.query<AttentionGroup>(
    `select type = 'send' as "isEmail", state, reason_code as code, count(*)::int as count,
       (array_agg(left(reason, 500)))[1] as reason
     from (select type, state, reason_code, reason from postrider.scheduled_actions
       where workspace_id = $1 and needs_attention order by message_id desc nulls first limit ${LOOKED_AT}) newest
     group by 1, 2, 3 order by count desc`,
    [workspaceId],
  )
  return { groups: rows, capped: rows.reduce((sum, { count }) => sum + count, 0) >= LOOKED_AT }
}
