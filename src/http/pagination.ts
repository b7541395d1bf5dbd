import { z } from '@hono/zod-openapi'
import { type IdPrefix, readId, showId } from '../id.js'
import { refusal } from './problem.js'
import { fields, text } from './read-input.js'

/** Lists are paged by id, newest first: `after` the last one seen, or `before` the first. */
const limit = z.coerce
  .number({ error: 'must be a whole number from 1 to 100' })
  .int('must be a whole number from 1 to 100')
  .min(1, 'must be a whole number from 1 to 100')
  .max(100, 'must be a whole number from 1 to 100')
  .default(20)
  .openapi({ description: 'How many at most.', type: 'integer', minimum: 1, maximum: 100, default: 20 })

const after = text(1_000).optional().openapi({ description: 'The page behind this id.' })
const before = text(1_000).optional().openapi({ description: 'The page in front of this id.' })

export const pageQuery = <Shape extends z.ZodRawShape>(shape: Shape) => fields({ ...shape, limit, after, before })

export const forwardQuery = <Shape extends z.ZodRawShape>(shape: Shape) => fields({ ...shape, limit, after })

export interface Page {
  readonly limit: number
  readonly after?: string
  readonly before?: string
}

/** From the ids people see to those of the database. */
export function readPage(
  query: { readonly limit: number; readonly after?: string | undefined; readonly before?: string | undefined },
  prefix: IdPrefix,
): Page {
  if (query.after !== undefined && query.before !== undefined)
    throw refused('before', 'cannot be combined with after: a page is on one side of an id')
  return {
    limit: query.limit,
    ...(query.after !== undefined && { after: readCursor(query.after, 'after', prefix) }),
    ...(query.before !== undefined && { before: readCursor(query.before, 'before', prefix) }),
  }
}

/** The id behind one that was given in a query. */
export const readReference = (id: string, name: string, prefix: IdPrefix): string => readCursor(id, name, prefix)

function readCursor(id: string, name: string, prefix: IdPrefix): string {
  const read = readId(prefix, id)
  if (read === null) throw refused(name, `must be an id such as ${prefix}_0123…`)
  return read
}

const refused = (name: string, detail: string) => refusal([{ in: 'query', path: [name], detail }])

export const listOf = <Item extends z.ZodType>(item: Item) =>
  z.strictObject({ object: z.literal('list'), has_more: z.boolean(), data: z.array(item) })

/** Given one more than asked for, so that it is known whether there is more. The surplus one is the furthest away. */
export const asList = <Item>(items: readonly Item[], { limit, before }: Page) => ({
  object: 'list' as const,
  has_more: items.length > limit,
  data: before === undefined ? items.slice(0, limit) : items.slice(-limit),
})

/** Of what is searched for a moment only. */
export const searchedListOf = <Item extends z.ZodType>(item: Item) =>
  z.strictObject({
    ...listOf(item).shape,
    searched_until: z.string().nullable().openapi({
      description:
        'Nothing beyond this id was looked at: go on with after (or before). Null when all was, or the page is full.',
    }),
  })

export const asSearchedList = <Item>(
  items: readonly Item[],
  page: Page,
  { prefix, searchedUntil }: { readonly prefix: IdPrefix; readonly searchedUntil: string | null },
) => {
  const list = asList(items, page)
  return {
    ...list,
    has_more: list.has_more || searchedUntil !== null,
    searched_until: searchedUntil && showId(prefix, searchedUntil),
  }
}

/** The same page of a short list that was read whole, newest first. */
export function pageOf<Item extends { readonly id: string }>(items: readonly Item[], page: Page): Item[] {
  const { limit, after, before } = page
  const inside = items.filter(({ id }) => (after === undefined || id < after) && (before === undefined || id > before))
  return before === undefined ? inside.slice(0, limit + 1) : inside.slice(-(limit + 1))
}
