import { FINAL_STATES } from '../domain/states.js'
import { firstIdAt } from '../id.js'
import { FIRST_LANE } from './claim-actions.js'
import type { Sql } from './client.js'
import { ofMessage } from './of-email.js'

/**
 * Forgets actions that have been over for longer than the retention. Ids sort by the time they were made, so the old
 * ones stand together at the beginning of the primary key and no index on a date is needed. Failed and uncertain
 * actions are never forgotten: a person has not looked yet.
 *
 * Of a campaign's emails only those that went out are forgotten: how many did is what is left of those planned when the
 * others are taken away, and the counts of an old campaign must stay true.
 *
 * What belongs to an action goes with it, in the same statement; a message goes with the last of its deliveries.
 */
export interface Page {
  readonly pruned: number
  /** Where the next page begins; null when the walk is over. */
  readonly next: string | null
}

export const FIRST_PAGE = FIRST_LANE

export async function readRetentionStart(sql: Sql, retentionMs: number): Promise<string> {
  const { rows } = await sql.query<{ before: Date }>(
    `select ${sql.now} - $1::float8 * interval '1 millisecond' as before`,
    [retentionMs],
  )
  return firstIdAt(rows[0]!.before)
}

export async function pruneActions(
  sql: Sql,
  { after, before, retentionMs, limit }: { after: string; before: string; retentionMs: number; limit: number },
): Promise<Page> {
  const { rows } = await sql.query<{ pruned: number; next: string | null }>(
    `with page as materialized (
       select id from postrider.scheduled_actions where id > $1 and id < $2 order by id limit $4
     ), pruned as (
       delete from postrider.scheduled_actions
       where id = any (array(select id from page)) and state = any ($5::text[])
         and (contact_id is null or state = 'done')
         and state_at < ${sql.now} - $3::float8 * interval '1 millisecond'
       returning id, message_id
     ), finished as materialized (
       -- This statement still sees what it is deleting, so the pruned ones are left out by name.
       select distinct message_id as id from pruned where message_id is not null and not exists (
         select 1 from postrider.scheduled_actions other
         where ${ofMessage('pruned.message_id', { alias: 'other' })} and other.id <> all (array(select id from pruned)))
     ), messages as (
       delete from postrider.messages where id = any (array(select id from finished))
     ), attempts as (
       delete from postrider.attempts where action_id = any (array(select id from pruned))
     ), letters as (
       delete from postrider.dead_letters where action_id = any (array(select id from pruned))
     ), events as (
       delete from postrider.events where email_id = any (array(select id from finished))
     ), captured as (
       delete from postrider.captured_emails where id = any (array(select id from pruned))
     )
     select (select count(*)::int from pruned) as pruned, (select id from page order by id desc limit 1) as next`,
    [after, before, retentionMs, limit, FINAL_STATES],
  )
  return rows[0]!
}

/** An idempotency key lives as long as the emails it made. */
export async function pruneIdempotencyKeys(sql: Sql, retentionMs: number, limit: number): Promise<number> {
  const { rowCount } = await sql.query(
    `delete from postrider.idempotency_keys where (workspace_id, key) in (
       select workspace_id, key from postrider.idempotency_keys known
       where created_at < ${sql.now} - $1::float8 * interval '1 millisecond'
         and not exists (select 1 from postrider.messages where id = any (email_ids))
       order by created_at limit $2)`,
    [retentionMs, limit],
  )
  return rowCount
}
