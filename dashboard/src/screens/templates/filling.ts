import type { Person } from './contact-choice'
import type { Content } from './template-queries'

/** What the variables of a preview stand for: somebody of the contacts, or made-up data. Both are kept. */
export interface Filling {
  readonly kind: 'sample' | 'contact'
  readonly json: string
  readonly person: Person | null
}

type Data = Readonly<Record<string, unknown>>

/** What is there beside the contact when a campaign renders it. */
const AROUND: Data = {
  list: { name: 'Newsletter' },
  campaign: { name: 'November news' },
  sender: { name: 'Postrider', email: 'hello@example.com' },
}

export const SAMPLE: Filling = {
  kind: 'sample',
  json: JSON.stringify({ contact: { name: 'Ada Lovelace', email: 'ada@example.com' }, ...AROUND }, null, 2),
  person: null,
}

export const readSample = (json: string): { readonly data: Data } | { readonly problem: string } => {
  try {
    const data: unknown = JSON.parse(json)
    if (data === null || typeof data !== 'object' || Array.isArray(data)) return { problem: 'must be a JSON object' }
    return { data: data as Data }
  } catch (error) {
    return { problem: `is not JSON: ${error instanceof Error ? error.message : String(error)}` }
  }
}

export interface FillingRequest {
  readonly data: Data
  readonly contact_id?: string
}

/** The part of a preview's request that says what it is filled with; null while there is nothing to fill it with. */
export function toRequest({ kind, json, person }: Filling, around: Data = AROUND): FillingRequest | null {
  if (kind === 'contact') return person && { data: around, contact_id: person.id }
  const read = readSample(json)
  return 'data' in read ? { data: read.data } : null
}

/** The sample with a value for what has none. */
export function withValuesFor(json: string, missing: readonly string[]): string {
  const read = readSample(json)
  const data = structuredClone('data' in read ? read.data : {}) as Record<string, unknown>
  for (const name of missing) {
    // Whatever is an index or a computed name cannot be written as data so simply.
    const path = name.split('.')
    if (!path.every((part) => /^[A-Za-z_][\w-]*$/.test(part))) continue
    let place = data
    for (const part of path.slice(0, -1)) {
      const inner = place[part]
      place = (inner !== null && typeof inner === 'object' ? inner : (place[part] = {})) as Record<string, unknown>
    }
    place[path.at(-1)!] = `(${path.at(-1)!.replaceAll('_', ' ')})`
  }
  return JSON.stringify(data, null, 2)
}

export interface Mark {
  readonly line: number
  readonly column: number
  readonly detail: string
  readonly mood: 'bad' | 'warn'
}

export type Part = keyof Content

/** What the API says about a part, with its place if it names one. */
export function markOf(detail: string): Mark {
  const place = / \(line (\d+), column (\d+)\)$/.exec(detail)
  return {
    line: Number(place?.[1] ?? 1),
    column: Number(place?.[2] ?? 1),
    detail: place ? detail.slice(0, place.index) : detail,
    mood: 'bad',
  }
}

/** Where variables stand that have no value. */
export function marksOfMissing(source: string, missing: readonly string[]): Mark[] {
  return missing.flatMap((name) => {
    const written = name.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)
    const found = new RegExp(String.raw`(?<![\w.-])${written}(?![\w-])`).exec(source)
    if (!found) return []
    const before = source.slice(0, found.index)
    return [
      {
        line: before.split('\n').length,
        column: found.index - before.lastIndexOf('\n'),
        detail: `${name} has no value`,
        mood: 'warn' as const,
      },
    ]
  })
}
