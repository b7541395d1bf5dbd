export const MAX_HEADERS = 50
export const MAX_HEADERS_OCTETS = 16_384
/** RFC 5322 allows 998 octets a line, and a folded line opens with a space. A piece has no space to fold it at. */
export const MAX_HEADER_PIECE_OCTETS = 997
/** So that a name and its colon leave room on their line. */
const MAX_NAME_LENGTH = 76

/** Readers decode these, so what is not ASCII may be written as encoded-words. */
const TEXT_HEADERS: ReadonlySet<string> = new Set(['comments', 'keywords', 'organization', 'thread-topic'])

/** These have a grammar of their own, which encoded-words would break. */
const STRUCTURED_HEADERS: ReadonlySet<string> = new Set([
  'archived-at',
  'auto-submitted',
  'bimi-selector',
  'expires',
  'feedback-id',
  'importance',
  'in-reply-to',
  'mt-priority',
  'precedence',
  'priority',
  'references',
  'require-recipient-valid-since',
  'sensitivity',
  'thread-index',
  'tls-required',
])

/** Why a known header is not the caller's to set. Everything else that is not allowed is merely unknown. */
const REFUSED: readonly (readonly [RegExp, string])[] = [
  [/^(?:from|to|cc|bcc|reply-to|subject)$/, 'has a field of its own'],
  [/^(?:sender|return-path|date|message-id)$/, 'identifies the email and is written by Postrider'],
  [/^resent-/, 'says that the email passed through other hands'],
  [
    /^(?:received(?:-.+)?|delivered-to|x-original-to|authentication-results|dkim-signature|domainkey-signature|arc-.+)$/,
    'is written by mail servers',
  ],
  [/^x-google-dkim-signature$/, 'is written by mail servers'],
  [/^(?:mime-version|content-.+)$/, 'describes the body and is written by Postrider'],
]

export interface HeaderProblem {
  readonly name: string
  readonly detail: string
}

/**
 * What is wrong with the headers a caller wants to set; nothing, if the list is empty. Allowed are `X-…`, `List-…` and
 * the names above: a list of what may be set stays right when a new identity header is invented, its opposite does not.
 */
export function findHeaderProblems(headers: Readonly<Record<string, unknown>>): HeaderProblem[] {
  const problems: HeaderProblem[] = []
  const entries = Object.entries(headers)
  const seen = new Set<string>()
  let octets = 0
  for (const [name, value] of entries) {
    const detail = findNameProblem(name) ?? findValueProblem(name, value)
    if (detail !== null) problems.push({ name, detail })
    else if (seen.has(name.toLowerCase())) problems.push({ name, detail: 'is set more than once' })
    seen.add(name.toLowerCase())
    octets += countOctets(name) + (typeof value === 'string' ? countOctets(value) : 0) + ': \r\n'.length
  }
  if (entries.length > MAX_HEADERS)
    problems.push({ name: '', detail: `at most ${MAX_HEADERS} headers may be set, these are ${entries.length}` })
  if (octets > MAX_HEADERS_OCTETS)
    problems.push({
      name: '',
      detail: `all headers together may have ${MAX_HEADERS_OCTETS} octets, these have ${octets}`,
    })
  return problems
}

/** What is not ASCII in it may be written as encoded-words. */
export function isTextHeader(name: string): boolean {
  const key = name.toLowerCase()
  return key.startsWith('x-') || TEXT_HEADERS.has(key)
}

function findNameProblem(name: string): string | null {
  // RFC 5322 allows any printable character but the colon; everything in use is made of these.
  if (!/^[A-Za-z0-9][\w-]*$/.test(name)) return 'is not a header name: letters, digits and hyphens only'
  if (name.length > MAX_NAME_LENGTH) return `is longer than ${MAX_NAME_LENGTH} characters`
  const key = name.toLowerCase()
  const refused = REFUSED.find(([pattern]) => pattern.test(key))
  if (refused) return `cannot be set: it ${refused[1]}`
  if (/^(?:x|list)-./.test(key) || TEXT_HEADERS.has(key) || STRUCTURED_HEADERS.has(key)) return null
  return 'cannot be set: use a name that starts with X-'
}

function findValueProblem(name: string, value: unknown): string | null {
  if (typeof value !== 'string') return 'must be a string'
  if (value.trim() === '') return 'is empty'
  if (/[\p{Cc}\u2028\u2029]/u.test(value)) return 'contains a line break or another control character'
  if (!value.isWellFormed()) return 'contains half a character (a lone surrogate)'
  if (value.split(' ').some((piece) => countOctets(piece) > MAX_HEADER_PIECE_OCTETS))
    return `has more than ${MAX_HEADER_PIECE_OCTETS} octets without a space`
  if (isTextHeader(name)) return null
  if (/[^\x20-\x7e]/.test(value)) return 'must be ASCII'
  // Written as it is, a reader would decode it into characters that were never checked.
  if (value.includes('=?')) return 'must not contain an encoded-word'
  return null
}

function countOctets(text: string): number {
  return new TextEncoder().encode(text).length
}
