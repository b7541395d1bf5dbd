import type { Sql } from './client.js'

export interface EmailCounts {
  readonly pending: number
  readonly failed: number
  readonly uncertain: number
  readonly sending: number
  readonly dueNow: number
  readonly nextHour: number
}

/** What a dashboard shows first. Costs what is waiting and what needs attention, not the size of the history. */
export async function countEmails(sql: Sql, workspaceId: string): Promise<EmailCounts> {
  const { rows } = await sql.query<EmailCounts>(
    `with ready as materialized (
       select action.id from postrider.ready_actions hint cross join lateral unnest(action_ids) as named (id)
         join postrider.scheduled_actions action on action.id = named.id
       where workspace_id = $1 and type = 'send' and state = 'pending'
     ), waiting as materialized (
       select wake_at from postrider.scheduled_actions
       where wake_at is not null and workspace_id = $1 and type = 'send'
     ), held as materialized (
       select action.id from postrider.leases cross join lateral unnest(action_ids) as named (id)
         join postrider.scheduled_actions action on action.id = named.id
       where workspace_id = $1 and type = 'send' and state in ('leased', 'armed')
     ), attention as materialized (
       select state, count(*)::int as count from postrider.scheduled_actions
       where workspace_id = $1 and needs_attention and type = 'send' group by state
     )
     select (select count(*)::int from ready) + (select count(*)::int from waiting) as pending,
       coalesce((select count from attention where state = 'failed'), 0) as failed,
       coalesce((select count from attention where state = 'uncertain'), 0) as uncertain,
       (select count(*)::int from held) as sending,
       (select count(*)::int from ready) + (select count(*)::int from waiting where wake_at <= ${sql.now}) as "dueNow",
       (select count(*)::int from waiting where wake_at between ${sql.now} and ${sql.now} + interval '1 hour') as "nextHour"`,
    [workspaceId],
  )
  return rows[0]!
}
