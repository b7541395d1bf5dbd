import { EMAIL_STATUSES, type EmailStatus } from '../domain/email-status.js'
import { firstIdAt } from '../id.js'
import type { Sql } from './client.js'
import { rankOf, rankOfEither } from './email-conditions.js'
import type { EmailFilter } from './email-filter.js'
import { countHinted, due, FEW_DUE, held, inSet, type Source, toAddress, walks } from './email-sources.js'
import { LOOKED_AT } from './find-emails.js'

/**
 * How many emails of each status match a filter, whatever status it asks for. Exact as far as it is looked, which is as far as people count: beyond
 * that a figure is what was found by then, and says so.
 */
export interface StatusCount {
  readonly count: number
  /** At least this many. */
  readonly capped: boolean
}

/** Candidates of each group of statuses that are looked at. */
const COUNTED = 2_000

export async function countByStatus(
  sql: Sql,
  workspaceId: string,
  { status: _status, ...filter }: EmailFilter,
  counted = COUNTED,
): Promise<Readonly<Record<EmailStatus, StatusCount>>> {
  const isFewDue = (await countHinted(sql)) <= FEW_DUE
  // One of a campaign is its own delivery.
  const rank = filter.campaignId === undefined ? rankOfEither('found.id') : rankOf('id = found.id')
  const open = (statuses: readonly EmailStatus[], choose: Choose, lookedAt = counted): Query => {
    const values: unknown[] = [workspaceId]
    const bind = (value: unknown) => `$${values.push(value)}`
    const bounds = [
      ...(filter.createdAfter ? [`>= ${bind(firstIdAt(filter.createdAfter))}::uuid`] : []),
      ...(filter.createdBefore ? [`< ${bind(firstIdAt(filter.createdBefore))}::uuid`] : []),
    ]
    const sources = choose(filter, { bind, bounds, order: 'desc', lookedAt })
    return { statuses, values, text: countIn(statuses, sources, counted, rank) }
  }
  const pending: Choose = (wanted, options) => [
    inSet('waiting', wanted, options),
    ...(isFewDue ? [due(wanted, options)] : walks({ ...wanted, status: ['scheduled', 'retry_scheduled'] }, options)),
  ]
  const queries =
    filter.to !== undefined
      ? [open(EMAIL_STATUSES, toAddress)]
      : filter.q !== undefined
        ? [open(EMAIL_STATUSES, walks, LOOKED_AT)]
        : [
            open(['scheduled', 'retry_scheduled'], pending),
            open(['sending'], (wanted, options) => [held({ ...wanted, status: 'sending' }, options)]),
            open(['uncertain', 'failed'], (...asked) => [inSet('attention', ...asked)]),
            open(['expired', 'suppressed', 'canceled', 'dismissed'], (...asked) => [inSet('unsent', ...asked)]),
            open(['sent'], (wanted, options) => walks({ ...wanted, status: 'sent' }, options)),
          ]
  const answers = await Promise.all(queries.map((query) => count(sql, query)))
  return Object.fromEntries(answers.flat()) as Record<EmailStatus, StatusCount>
}

type Choose = typeof walks

interface Query {
  readonly statuses: readonly EmailStatus[]
  readonly values: readonly unknown[]
  readonly text: string
}

/**
 * Candidates by their status, and in every row whether there were more than were looked at. Of one status alone the
 * sources were asked for nothing else.
 */
function countIn(
  statuses: readonly EmailStatus[],
  sources: readonly Source[],
  counted: number,
  rankOfFound: string,
): string {
  const ends = sources.flatMap(({ end }) => (end === null ? [] : [`exists (${end})`]))
  const parts = sources.map(({ matching }) => `(${matching} limit ${counted})`).join(' union all ')
  const rank = statuses.length === 1 ? EMAIL_STATUSES.indexOf(statuses[0]!) : rankOfFound
  // What cannot come twice need not be compared, and is not looked for any more when there is enough of it.
  const found = sources.every(({ alone }) => alone)
    ? `select id from (${parts}) parts limit ${counted}`
    : `select distinct id from (${parts}) parts`
  return `
    with found as materialized (${found}
    ), ranked as (select ${rank} as rank from found
    ), cut as (
      select ${[...ends, `(select count(*) from found) >= ${counted}`].join(' or ')} as cut
    )
    select rank, count(*)::int as count, (select cut from cut) as cut from ranked group by rank
    union all select null, 0, (select cut from cut)`
}

async function count(sql: Sql, { statuses, values, text }: Query) {
  const { rows } = await sql.query<{ rank: number | null; count: number; cut: boolean }>(text, values)
  const capped = rows.some(({ cut }) => cut)
  return statuses.map((status) => {
    const found = rows.find(({ rank }) => rank === EMAIL_STATUSES.indexOf(status))
    return [status, { count: found?.count ?? 0, capped }] as const
  })
}
