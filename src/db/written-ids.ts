/**
 * Asks a statement that ends in `returning id` which of the ids it was given it wrote. Nearly always it is all of them,
 * and then the answer is one empty row instead of a thousand: reading those costs a worker more than anything else it
 * does. The ids must be the statement's first parameter, each once. `also` is a step of its own that goes with it;
 * `after` is one that reads what was `written`.
 */
export const writtenIds = (statement: string, also = '', after = ''): string => `
  with ${also && `${also}, `}written as (${statement})${after && `, ${after}`}
  select case when count(*) = cardinality($1::uuid[]) then null else coalesce(array_agg(id), '{}') end as ids
  from written`

export function readWrittenIds(answer: { rows: unknown[] }, asked: readonly string[]): ReadonlySet<string> {
  const { ids } = answer.rows[0] as { ids: string[] | null }
  return new Set(ids ?? asked)
}
