import { z } from '@hono/zod-openapi'
import { findClosest } from '../domain/did-you-mean.js'
import { type InputProblem, refusal } from './problem.js'

/** How what clients send is checked for its shape. Whether it makes sense is for the operations to say. */

/** One line per key, in the order of the issue's keys; read again by `toProblems`. */
const SEPARATOR = '\n'

/**
 * An object with exactly these fields. A field that is not known is a mistake somebody wants to hear of: a mistyped
 * `scheduled_at` that is ignored sends an email at once. `hints` say more about fields that others have and we do not.
 */
export const fields = <Shape extends z.ZodRawShape>(shape: Shape, hints: Readonly<Record<string, string>> = {}) =>
  z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? issue.keys.map((key) => describeUnknown(key, Object.keys(shape), hints)).join(SEPARATOR)
        : undefined,
  })

function describeUnknown(key: string, known: readonly string[], hints: Readonly<Record<string, string>>): string {
  if (Object.hasOwn(hints, key)) return hints[key]!
  // A long key is no typing mistake, and comparing it would take its length times the number of fields.
  const meant = key.length <= 64 ? findClosest(key, known) : null
  return meant === null ? 'is not a known field' : `is not a known field (did you mean ${meant}?)`
}

/** In the words of the rest of our messages: "to is needed", "limit must be a number". */
const wording: z.core.$ZodErrorMap = (issue) => {
  if (issue.code === 'invalid_type')
    return issue.input === undefined ? 'is needed' : `must be ${EXPECTED[issue.expected] ?? issue.expected}`
  if (issue.code === 'invalid_value') return `must be one of ${issue.values.map(String).join(', ')}`
  return undefined
}

const EXPECTED: Readonly<Record<string, string>> = {
  array: 'a list',
  boolean: 'true or false',
  int: 'a whole number',
  number: 'a number',
  object: 'an object',
  record: 'an object',
  string: 'a string',
}

/** Text a database can hold. */
export const text = (longest = 100_000) =>
  z
    .string({ error: wording })
    .max(longest, `at most ${longest} characters`)
    .refine((value) => !value.includes('\0') && value.isWellFormed(), {
      error: 'contains a NUL character or half a surrogate pair',
    })

/** For how many milliseconds somebody waits for what may take longer. */
const WITHIN = { least: 1, most: 10_000 }
const WITHIN_ERROR = `must be a whole number from ${WITHIN.least} to ${WITHIN.most}`

/** In a query, where everything is text, it has to be said what it is. */
export const withinMs = (description: string, from: 'body' | 'query' = 'body') =>
  (from === 'query' ? z.coerce.number({ error: WITHIN_ERROR }) : z.number({ error: WITHIN_ERROR }))
    .int(WITHIN_ERROR)
    .min(WITHIN.least, WITHIN_ERROR)
    .max(WITHIN.most, WITHIN_ERROR)
    .optional()
    .openapi({ type: 'integer', minimum: WITHIN.least, maximum: WITHIN.most, description })

const DEEPEST = 20

/** What is wrong with JSON of any shape: nested too deeply to be meant, or text a database cannot hold. */
export function findPayloadProblem(value: unknown, depth = 0): string | null {
  if (depth > DEEPEST) return `nests deeper than ${DEEPEST} levels`
  if (typeof value === 'string')
    return value.includes('\0') || !value.isWellFormed() ? 'contains a NUL character or half a surrogate pair' : null
  if (typeof value !== 'object' || value === null) return null
  for (const [key, member] of Object.entries(value)) {
    const problem = key === '__proto__' ? 'must not have a member named __proto__' : findPayloadProblem(key, depth + 1)
    const found = problem ?? findPayloadProblem(member, depth + 1)
    if (found !== null) return found
  }
  return null
}

/** Any JSON that is an object. */
export const jsonObject = z.record(z.string(), z.unknown()).superRefine((value, context) => {
  const problem = findPayloadProblem(value)
  if (problem !== null) context.addIssue({ code: 'custom', message: problem })
})

/** Checks and returns it, or throws every problem it has. */
export function readInput<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  place: InputProblem['in'],
): z.output<Schema> {
  const { data, problems } = checkInput(schema, value, place)
  if (problems) throw refusal(problems)
  return data
}

type Checked<Data> =
  | { readonly data: Data; readonly problems?: never }
  | { readonly data?: never; readonly problems: readonly InputProblem[] }

export function checkInput<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  place: InputProblem['in'],
): Checked<z.output<Schema>> {
  const result = schema.safeParse(value, { error: wording })
  return result.success ? { data: result.data } : { problems: toProblems(result.error.issues, place) }
}

/** A client that sends ten thousand mistakes learns enough from the first hundred. */
const MOST_PROBLEMS = 100

const toProblems = (issues: readonly z.core.$ZodIssue[], place: InputProblem['in']): InputProblem[] =>
  issues
    .flatMap((issue) => spread(issue))
    .slice(0, MOST_PROBLEMS)
    .map(({ path, detail }) => ({ in: place, path, detail }))

interface Found {
  readonly path: (string | number)[]
  readonly detail: string
}

function spread(issue: z.core.$ZodIssue): Found[] {
  const path = issue.path.map((segment) => (typeof segment === 'number' ? segment : String(segment)))
  if (issue.code === 'unrecognized_keys') {
    const details = issue.message.split(SEPARATOR)
    return issue.keys.map((key, index) => ({ path: [...path, key], detail: details[index] ?? 'is not a known field' }))
  }
  if (issue.code === 'invalid_union') {
    // Whichever alternative came furthest is the one that was meant: a list with one wrong entry, not "no string".
    const furthest = issue.errors.find((alternative) => alternative.some(({ path }) => path.length > 0))
    if (furthest)
      return furthest.flatMap((inner) => spread(inner)).map((found) => ({ ...found, path: [...path, ...found.path] }))
  }
  return [{ path, detail: issue.message }]
}
