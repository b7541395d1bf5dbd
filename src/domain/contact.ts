import { foldAddress, parseMailbox } from './address.js'

/** What somebody says of a contact. What is left out, or null, says nothing. */
export interface ContactInput {
  /** `ada@example.com` or `Ada <ada@example.com>`. */
  readonly email: string
  readonly name?: string | null | undefined
  readonly attributes?: Readonly<Record<string, unknown>> | undefined
  readonly timezone?: string | null | undefined
}

export interface NewContact {
  readonly address: string
  readonly foldedAddress: string
  readonly name: string | null
  readonly attributes: Readonly<Record<string, unknown>>
  readonly timezone: string | null
}

interface ContactProblem {
  readonly path: readonly (string | number)[]
  readonly detail: string
}

/** With problems there is no contact; with a warning there is one. */
export interface ReadContact {
  readonly contact: NewContact
  readonly problems: readonly ContactProblem[]
  readonly warning: string | null
}

export const MOST_ATTRIBUTES = 64
export const MOST_ATTRIBUTE_BYTES = 16_384
const LONGEST_NAME = 200
const LONGEST_ATTRIBUTE_NAME = 100
const DEEPEST = 20

const CONTROL = /[\p{Cc}\u2028\u2029]/u

export function readContact({ email, name, attributes = {}, timezone }: ContactInput): ReadContact {
  const problems: ContactProblem[] = []
  const mailbox = parseMailbox(email)
  if (!mailbox) problems.push({ path: ['email'], detail: 'must be one address, such as ada@example.com' })
  const chosen = name?.trim() || mailbox?.name || null
  const nameProblem = chosen === null ? null : findNameProblem(chosen)
  if (nameProblem !== null) problems.push({ path: ['name'], detail: nameProblem })
  const said = withoutNulls(attributes)
  const attributeProblem = findAttributesProblem(said)
  if (attributeProblem !== null) problems.push({ path: ['attributes'], detail: attributeProblem })
  const zone = readTimezone(timezone)
  const address = mailbox?.address ?? ''
  return {
    contact: { address, foldedAddress: foldAddress(address), name: chosen, attributes: said, timezone: zone.timezone },
    problems,
    warning: zone.warning,
  }
}

export const findNameProblem = (name: string): string | null =>
  name.length > LONGEST_NAME || CONTROL.test(name) || !name.isWellFormed()
    ? `must be at most ${LONGEST_NAME} characters without control characters`
    : null

/** What is wrong with them as a whole; null when they can be kept. */
export function findAttributesProblem(attributes: Readonly<Record<string, unknown>>): string | null {
  const names = Object.keys(attributes)
  if (names.length === 0) return null
  if (names.length > MOST_ATTRIBUTES) return `may be ${MOST_ATTRIBUTES} at the most`
  const unusable = (name: string) => name.trim() === '' || name.length > LONGEST_ATTRIBUTE_NAME || CONTROL.test(name)
  if (names.some(unusable))
    return `have a name that cannot be used: it must have 1 to ${LONGEST_ATTRIBUTE_NAME} characters, none of them control characters`
  const problem = findValueProblem(attributes, 0)
  if (problem !== null) return problem
  return new TextEncoder().encode(JSON.stringify(attributes)).length > MOST_ATTRIBUTE_BYTES
    ? `may come to ${MOST_ATTRIBUTE_BYTES} bytes at the most`
    : null
}

/** What a database cannot hold, and what nobody means. */
function findValueProblem(value: unknown, depth: number): string | null {
  if (depth > DEEPEST) return `nest deeper than ${DEEPEST} levels`
  if (typeof value === 'string')
    return value.includes('\0') || !value.isWellFormed() ? 'contain a NUL character or half a surrogate pair' : null
  if (typeof value !== 'object' || value === null) return null
  for (const [name, member] of Object.entries(value)) {
    if (name === '__proto__') return 'must not have a member named __proto__'
    const problem = findValueProblem(name, depth) ?? findValueProblem(member, depth + 1)
    if (problem !== null) return problem
  }
  return null
}

const withoutNulls = (attributes: Readonly<Record<string, unknown>>) =>
  Object.values(attributes).includes(null)
    ? Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== null))
    : attributes

export interface ReadTimezone {
  readonly timezone: string | null
  readonly warning: string | null
}

/** One that is not known never stops anything: the contact then has none, which means the sender's, and that is said. */
export function readTimezone(text: string | null | undefined): ReadTimezone {
  const given = text?.trim() ?? ''
  if (given === '') return { timezone: null, warning: null }
  if (isTimezone(given)) return { timezone: given, warning: null }
  return { timezone: null, warning: `${JSON.stringify(given.slice(0, 64))} is not a time zone: the sender's is used` }
}

/** Asking takes a tenth of a millisecond, and a file of a million rows asks for the same few. */
const asked = new Map<string, boolean>()
const MOST_ASKED = 1_000

function isTimezone(name: string): boolean {
  // Offsets are time zones for some engines, but know nothing of summer time.
  if (name.length > 64 || !/^[a-z][\w+/-]*$/i.test(name)) return false
  const known = asked.get(name)
  if (known !== undefined) return known
  let valid: boolean
  try {
    valid = new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== ''
  } catch {
    valid = false
  }
  if (asked.size >= MOST_ASKED) asked.clear()
  asked.set(name, valid)
  return valid
}
