import { firstIdAt } from '../id.js'
import type { Sql } from './client.js'
import type { EmailFilter } from './email-filter.js'
import { chooseSources } from './email-sources.js'
import { type Cursor, type Found, isBackwards } from './search-on.js'

/** Candidates of each source that are looked at for one page. */
export const LOOKED_AT = 20_000

/**
 * Finds the ids of emails, those with a message and those of campaigns, newest first.
 *
 * Every source of candidates is read in the order of an index and only so far: what a filter without an index leaves
 * unfound within that is not searched for at any price. The answer then says how far was looked, and the next page goes
 * on from there. So a page costs the same with a thousand emails and with a million.
 */
export async function findEmails(
  sql: Sql,
  workspaceId: string,
  filter: EmailFilter,
  cursor: Cursor,
  lookedAt = LOOKED_AT,
): Promise<Found> {
  const { parts, ends, values, backwards, order } = await openSearch(sql, workspaceId, filter, cursor, lookedAt)
  const { limit } = cursor
  // A source that has filled the page by itself was looked at far enough, whatever the others found.
  const until = ends.map((end, i) => `case when (select count(*) from part${i}) < ${limit} then ${end} end`)
  const { rows } = await sql.query<{ ids: string[] | null; until: string | null }>(
    `with ${parts.map((part, i) => `part${i} as materialized (${part})`).join(', ')}
     select (select array_agg(id order by id desc) from (
         select distinct id from (${parts.map((_, i) => `select id from part${i}`).join(' union all ')}) found
         order by id ${order} limit ${limit}) page) as ids,
       ${backwards ? 'least' : 'greatest'}(${until.join(', ')}) as until`,
    values,
  )
  const { ids, until: end } = rows[0]!
  // What one source has found beyond the end of another may have others in between.
  const inside = (ids ?? []).filter((id) => end === null || (backwards ? id <= end : id >= end))
  return { ids: inside, searchedUntil: inside.length < limit ? end : null }
}

interface Search {
  /** What each source has found: `id`, as many as fit on a page. */
  readonly parts: readonly string[]
  /** The end of each: null when it was read to its own. */
  readonly ends: readonly string[]
  readonly values: readonly unknown[]
  readonly backwards: boolean
  readonly order: 'asc' | 'desc'
}

async function openSearch(
  sql: Sql,
  workspaceId: string,
  filter: EmailFilter,
  cursor: Cursor,
  lookedAt: number,
): Promise<Search> {
  const values: unknown[] = [workspaceId]
  const bind = (value: unknown) => `$${values.push(value)}`
  const { after, before, limit } = cursor
  const backwards = isBackwards(cursor)
  const order = backwards ? 'asc' : 'desc'
  // Ids sort by the time they were made.
  const bounds = [
    ...(after === undefined ? [] : [`< ${bind(after)}::uuid`]),
    ...(before === undefined ? [] : [`> ${bind(before)}::uuid`]),
    ...(filter.createdAfter ? [`>= ${bind(firstIdAt(filter.createdAfter))}::uuid`] : []),
    ...(filter.createdBefore ? [`< ${bind(firstIdAt(filter.createdBefore))}::uuid`] : []),
  ]
  const sources = await chooseSources(sql, filter, { bind, bounds, order, lookedAt })
  return {
    parts: sources.map(({ matching }) => `${matching} order by id ${order} limit ${limit}`),
    ends: sources.map(({ end }) => (end === null ? 'null::uuid' : `(${end})`)),
    values,
    backwards,
    order,
  }
}
