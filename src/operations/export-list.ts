import { writeRow } from '../csv/write-row.js'
import { listAttributeNames, type Member, walkMembers } from '../db/list-members.js'
import type { Context } from './context.js'

/** Held in memory at a time. */
const PAGE = 1_000
/** What a spreadsheet can show. */
const MOST_COLUMNS = 1_000

const FIXED = ['email', 'name', 'timezone', 'subscribed'] as const

/**
 * Everybody on a list as CSV, page by page in the order of ids, so that whoever joins or leaves meanwhile disturbs
 * nobody else's place.
 */
export async function* exportList({ db }: Context, listId: string): AsyncGenerator<string> {
  const names = await listAttributeNames(db, listId, MOST_COLUMNS)
  const taken = new Set<string>(FIXED)
  yield writeRow([...FIXED, ...names.map((name) => (taken.has(name) ? `attribute_${name}` : name))])
  let after: string | null = null
  for (;;) {
    const members: Member[] = await walkMembers(db, listId, after, PAGE)
    if (members.length === 0) return
    yield members.map((member) => writeRow(cellsOf(member, names))).join('')
    after = members.at(-1)!.id
  }
}

const cellsOf = ({ address, name, timezone, subscribed, attributes }: Member, names: readonly string[]) => [
  address,
  name ?? '',
  timezone ?? '',
  String(subscribed),
  ...names.map((each) => showValue(Object.hasOwn(attributes, each) ? attributes[each] : undefined)),
]

const showValue = (value: unknown): string =>
  value === undefined || value === null ? '' : typeof value === 'string' ? value : JSON.stringify(value)
