import { findClosest } from './did-you-mean.js'

/** What the columns of a file are to a contact. */
export type Column =
  | { readonly field: 'email' | 'name' | 'timezone' }
  | { readonly field: 'attribute'; readonly name: string }
  /** Left out. */
  | { readonly field: 'none' }

/** `column=field`, as in `E-Mail=email`, `Firma=company`, `Notes=-` (leave it out), `3=phone` (the third column). */
export interface ColumnMapping {
  readonly column: string
  readonly field: string
}

export type ChosenColumns =
  | { readonly columns: readonly Column[]; readonly problem?: never }
  | { readonly columns?: never; readonly problem: string }

/** What headings are taken for, the surest first: an `address` beside an `email` is where somebody lives. */
const HEADINGS = {
  email: ['email', 'e_mail', 'email_address', 'e_mail_address', 'mail', 'address'],
  name: ['name', 'full_name'],
  timezone: ['timezone', 'time_zone', 'tz'],
} as const

/** Exports have it, and an import changes nobody's subscription. */
const LEFT_OUT = 'subscribed'
const NOT_THIS = '-'

/** `First Name` → `first_name`: a name a template can speak of. */
export const toAttributeName = (heading: string): string =>
  heading
    .trim()
    .normalize('NFC')
    .replaceAll(/(\p{Ll})(\p{Lu})/gu, '$1_$2')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\p{M}]+/gu, '_')
    .replaceAll(/^_+|_+$/g, '')

/** Null for what is no `column=field`. The last sign counts: a heading may contain one. */
export function readMapping(text: string): ColumnMapping | null {
  const at = text.lastIndexOf('=')
  const [column, field] = [text.slice(0, at).trim(), text.slice(at + 1).trim()]
  return at < 1 || column === '' || field === '' ? null : { column, field }
}

/** Decides what every column is: as mapped, or by its heading. Every other column is an attribute of that name. */
export function chooseColumns(header: readonly string[], mappings: readonly ColumnMapping[] = []): ChosenColumns {
  const chosen: (Column | undefined)[] = header.map(() => undefined)
  for (const { column, field } of mappings) {
    const index = findColumn(header, column)
    if (typeof index === 'string') return { problem: index }
    if (chosen[index]) return { problem: `Column ${show(column)} is mapped twice.` }
    chosen[index] = toColumn(field)
  }
  for (const field of ['email', 'name', 'timezone'] as const) {
    if (chosen.some((column) => column?.field === field)) continue
    const found = HEADINGS[field]
      .map((known) => header.findIndex((heading, i) => !chosen[i] && toAttributeName(heading) === known))
      .find((index) => index !== -1)
    if (found !== undefined) chosen[found] = { field }
  }
  const columns = chosen.map((column, i) => column ?? byHeading(header[i]!, i))
  return findProblem(header, columns) ?? { columns }
}

function findColumn(header: readonly string[], wanted: string): number | string {
  const same = (heading: string) => heading.trim().toLowerCase() === wanted.toLowerCase()
  const found = header.findIndex(same)
  if (found !== -1 && found === header.findLastIndex(same)) return found
  if (found !== -1)
    return `Several columns are called ${show(wanted)}: map them by their numbers, such as ${found + 1}=…`
  if (/^\d+$/.test(wanted) && header[Number(wanted) - 1] !== undefined) return Number(wanted) - 1
  const closest = findClosest(
    wanted,
    header.map((heading) => heading.trim()).filter((heading) => heading.length <= 64),
  )
  return `There is no column ${show(wanted)}.${closest ? ` Did you mean ${show(closest)}?` : ` There are ${listOf(header)}.`}`
}

const toColumn = (field: string): Column =>
  field === NOT_THIS
    ? { field: 'none' }
    : field === 'email' || field === 'name' || field === 'timezone'
      ? { field }
      : { field: 'attribute', name: field }

function byHeading(heading: string, index: number): Column {
  const name = toAttributeName(heading)
  if (name === LEFT_OUT) return { field: 'none' }
  return { field: 'attribute', name: name === '' ? `column_${index + 1}` : name }
}

function findProblem(header: readonly string[], columns: readonly Column[]): { problem: string } | null {
  if (!columns.some(({ field }) => field === 'email'))
    return {
      problem: `No column holds addresses: there are ${listOf(header)}. Call one of them "email", or map one, such as ${header[0]?.trim() || '1'}=email.`,
    }
  const seen = new Map<string, number>()
  for (const [i, column] of columns.entries()) {
    if (column.field === 'none') continue
    const key = column.field === 'attribute' ? `attribute ${column.name}` : column.field
    const earlier = seen.get(key)
    if (earlier !== undefined)
      return {
        problem: `Columns ${earlier + 1} and ${i + 1} would both be ${key}: rename one of them, or map it, such as ${i + 1}=other, or leave it out with ${i + 1}=-.`,
      }
    seen.set(key, i)
  }
  return null
}

const MOST_LISTED = 20
const show = (text: string) => JSON.stringify(text.slice(0, 64))
const listOf = (header: readonly string[]) =>
  header
    .slice(0, MOST_LISTED)
    .map((heading) => show(heading.trim()))
    .join(', ') + (header.length > MOST_LISTED ? ` and ${header.length - MOST_LISTED} more` : '')
