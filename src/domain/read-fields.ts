import { findClosest } from './did-you-mean.js'

/** What is wrong with something people wrote, and where. */
export interface FieldProblem {
  readonly path: readonly (string | number)[]
  readonly detail: string
}

export type Path = FieldProblem['path']
export type Say = (path: Path, detail: string) => void

type Fields<Name extends string> = Readonly<Partial<Record<Name, unknown>>>

/** Above this a word is no typing mistake, and comparing it takes its length times what is known. */
const LONGEST_WORD = 64
/** Of one object; nobody reads more, and each is compared with all that are known. */
const MOST_UNKNOWN = 20

/**
 * The fields of something that should be an object with no others: a mistyped `delay` that is ignored sends an email
 * too early. What is undefined is absent. Null when it is no object.
 */
export function readFields<Name extends string>(
  value: unknown,
  known: readonly Name[],
  path: Path,
  say: Say,
): Fields<Name> | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    say(path, value === undefined ? 'is needed' : 'must be an object')
    return null
  }
  const unknown = Object.keys(value).filter(
    (name) => !(known as readonly string[]).includes(name) && (value as Record<string, unknown>)[name] !== undefined,
  )
  for (const name of unknown.slice(0, MOST_UNKNOWN))
    say([...path, name], `is not a known field here${suggest(name, known)}`)
  const own = known.filter((name) => Object.hasOwn(value, name))
  return Object.fromEntries(own.map((name) => [name, (value as Record<Name, unknown>)[name]])) as Fields<Name>
}

/** ` (did you mean next?)`, or nothing. */
export function suggest(word: string, known: readonly string[]): string {
  const meant = word.length <= LONGEST_WORD ? findClosest(word, known) : null
  return meant === null ? '' : ` (did you mean ${meant}?)`
}

/** One line of text a database can hold. */
export function readText(value: unknown, longest: number, path: Path, say: Say): string | null {
  if (value === undefined) say(path, 'is needed')
  else if (typeof value !== 'string') say(path, 'must be a string')
  else if (value.trim() === '' || value.length > longest || /\p{Cc}/u.test(value) || !value.isWellFormed())
    say(path, `must be 1 to ${longest} characters, none of them control characters`)
  else return value
  return null
}

/** One of a few words; null, and said, when it is another. */
export function readWord<Word extends string>(
  value: unknown,
  words: readonly Word[],
  path: Path,
  say: Say,
): Word | null {
  if (words.includes(value as Word)) return value as Word
  const meant = typeof value === 'string' ? suggest(value, words) : ''
  say(
    path,
    value === undefined ? `is needed: one of ${words.join(', ')}` : `must be one of ${words.join(', ')}${meant}`,
  )
  return null
}
