import type { Json } from './action.js'
import { type Path, readFields, readText, readWord, type Say } from './read-fields.js'
import { COMPARISONS, type Comparison, type Condition, EVENT_NAME } from './sequence.js'

const DEEPEST = 8
const MOST_PARTS = 50
const MOST_VALUES = 100
const LONGEST_ATTRIBUTE = 500
const LONGEST_VALUE = 1_000
const KINDS = ['all', 'any', 'not', 'event', 'attribute'] as const
const NEEDS_ONE_KIND = `must say exactly one of ${KINDS.join(', ')}`

export const WRONG_EVENT =
  'must be the name of an event: a lower-case letter, then up to 63 lower-case letters, digits, dots, dashes or underscores'

/** The condition of a branch as people write it; null, and said, when it is none. */
export function readCondition(value: unknown, path: Path, say: Say, depth = 1): Condition | null {
  if (depth > DEEPEST) {
    say(path, `nests deeper than ${DEEPEST} levels: make two branches of it`)
    return null
  }
  const said = readFields(value, [...KINDS, 'is', 'value'], path, say)
  if (said === null) return null
  const kinds = KINDS.filter((kind) => said[kind] !== undefined)
  if (kinds.length !== 1) {
    say(path, NEEDS_ONE_KIND)
    return null
  }
  const kind = kinds[0]!
  if (kind === 'attribute') return readAttribute(said, path, say)
  for (const name of ['is', 'value'] as const)
    if (said[name] !== undefined) say([...path, name], 'only belongs beside attribute')
  const below = [...path, kind]
  if (kind === 'event') return readEvent(said.event, below, say)
  if (kind === 'not') {
    const not = readCondition(said.not, below, say, depth + 1)
    return not && { not }
  }
  const parts = readParts(said[kind], below, say, depth)
  return parts && (kind === 'all' ? { all: parts } : { any: parts })
}

function readParts(value: unknown, path: Path, say: Say, depth: number): Condition[] | null {
  if (!Array.isArray(value) || value.length === 0 || value.length > MOST_PARTS) {
    say(path, `must be a list of 1 to ${MOST_PARTS} conditions`)
    return null
  }
  const parts = value.map((part: unknown, i) => readCondition(part, [...path, i], say, depth + 1))
  return parts.filter((part) => part !== null)
}

function readEvent(value: unknown, path: Path, say: Say): Condition | null {
  if (typeof value === 'string' && EVENT_NAME.test(value)) return { event: value }
  say(path, WRONG_EVENT)
  return null
}

function readAttribute(
  said: { readonly attribute?: unknown; readonly is?: unknown; readonly value?: unknown },
  path: Path,
  say: Say,
): Condition | null {
  const attribute = readText(said.attribute, LONGEST_ATTRIBUTE, [...path, 'attribute'], say)
  const is = readWord(said.is, COMPARISONS, [...path, 'is'], say)
  if (is === null) return null
  const problem = findValueProblem(is, said.value)
  if (problem !== null) say([...path, 'value'], problem)
  if (attribute === null || problem !== null) return null
  return { attribute, is, ...(said.value !== undefined && { value: said.value as Json }) }
}

function findValueProblem(is: Comparison, value: unknown): string | null {
  switch (is) {
    case 'exists':
    case 'missing':
      return value === undefined ? null : `must be left out: ${is} compares with nothing`
    case 'greater':
    case 'less':
      return isScalar(value) && typeof value !== 'boolean' ? null : 'must be a number, or a text such as 2026-12-25'
    case 'in':
      return Array.isArray(value) && value.length > 0 && value.length <= MOST_VALUES && value.every(isScalar)
        ? null
        : `must be a list of 1 to ${MOST_VALUES} texts, numbers, true or false`
    case 'equals':
    case 'not_equals':
    case 'contains':
      if (value === null) return 'must not be null: ask whether it exists or is missing'
      return isScalar(value) ? null : `must be a text of at most ${LONGEST_VALUE} characters, a number, true or false`
  }
}

const isScalar = (value: unknown): boolean =>
  typeof value === 'boolean' ||
  (typeof value === 'number' && Number.isFinite(value)) ||
  (typeof value === 'string' && value.length <= LONGEST_VALUE && !value.includes('\0') && value.isWellFormed())
