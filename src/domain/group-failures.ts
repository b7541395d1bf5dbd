/** Why emails failed, told once for all that failed for the same reason. */
export interface FailureTally {
  readonly code: string
  readonly text: string
  readonly emails: number
  readonly lastAt: Date
  /** The newest of them. */
  readonly example: string
}

export interface FailureGroup {
  readonly code: string
  readonly emails: number
  readonly lastAt: Date
  /** In the words of the servers; most first. */
  readonly reasons: readonly FailureTally[]
}

/** More kinds of words than anybody reads; the others are counted with their group. */
const MOST_REASONS = 10

/**
 * What differs between two answers that mean the same: addresses, and the names servers give to what they refused (a
 * queue id, a session, a timestamp), which are long and have digits in them. Codes such as 5.1.1 and sizes are short.
 */
const ADDRESS = /[^\s<>@"'(),;:]+@[^\s<>@"'(),;:]+/g
const SERIAL = /(?<![\w.-])(?=[\w.=+/-]*\d)(?=[\w.=+/-]*[a-z\d])[\w.=+/-]{9,}/gi

export const withoutParticulars = (text: string): string => text.replaceAll(ADDRESS, '…').replaceAll(SERIAL, '…')

/** Most first, both the groups and what they are made of. */
export function groupFailures(tallies: readonly FailureTally[]): FailureGroup[] {
  const groups = new Map<string, Map<string, FailureTally>>()
  for (const tally of tallies) {
    const text = withoutParticulars(tally.text)
    const reasons = groups.get(tally.code) ?? new Map<string, FailureTally>()
    const known = reasons.get(text)
    reasons.set(text, known ? join(known, tally) : { ...tally, text })
    groups.set(tally.code, reasons)
  }
  return [...groups].map(([code, reasons]) => toGroup(code, mostFirst([...reasons.values()]))).toSorted(byEmails)
}

const join = (one: FailureTally, other: FailureTally): FailureTally => ({
  ...one,
  emails: one.emails + other.emails,
  lastAt: later(one.lastAt, other.lastAt),
  example: one.example > other.example ? one.example : other.example,
})

const toGroup = (code: string, reasons: readonly FailureTally[]): FailureGroup => ({
  code,
  emails: reasons.reduce((sum, { emails }) => sum + emails, 0),
  lastAt: reasons.map(({ lastAt }) => lastAt).reduce(later),
  reasons: reasons.slice(0, MOST_REASONS),
})

const later = (one: Date, other: Date): Date => (one > other ? one : other)
const byEmails = (one: { readonly emails: number }, other: { readonly emails: number }) => other.emails - one.emails
const mostFirst = (tallies: readonly FailureTally[]) => tallies.toSorted(byEmails)
