export interface Credentials {
  readonly user: string
  /** The password; for XOAUTH2 the access token. */
  readonly pass: string
}

export const MECHANISMS = ['PLAIN', 'LOGIN', 'XOAUTH2'] as const

/** What the server does next in an AUTH exchange: ask for another line, or decide. */
export type AuthStep =
  | { readonly kind: 'ask'; readonly challenge: string; readonly next: (line: string) => AuthStep }
  | { readonly kind: 'decided'; readonly granted: boolean }
  | { readonly kind: 'refused'; readonly why: 'authUnknown' | 'authMalformed' | 'authCanceled' }

const base64 = (text: string) => Buffer.from(text).toString('base64')
const decided = (granted: boolean): AuthStep => ({ kind: 'decided', granted })
const MALFORMED: AuthStep = { kind: 'refused', why: 'authMalformed' }

/** The answer to `AUTH <mechanism> [initial response]`. */
export function beginAuth(expected: Credentials, argument: string): AuthStep {
  const [mechanism = '', initial] = argument.split(' ').filter((word) => word !== '')
  switch (mechanism.toUpperCase()) {
    case 'PLAIN':
      return ask('', initial, (text) => decidePlain(expected, text))
    case 'LOGIN':
      return ask('Username:', initial, (user) =>
        ask('Password:', undefined, (pass) => decided(user === expected.user && pass === expected.pass)),
      )
    case 'XOAUTH2':
      return ask('', initial, (text) => decideOAuth(expected, text))
    default:
      return { kind: 'refused', why: 'authUnknown' }
  }
}

/** Goes on at once when the client has already given the answer. */
function ask(challenge: string, given: string | undefined, next: (text: string) => AuthStep): AuthStep {
  const onLine = (line: string): AuthStep => {
    if (line === '*') return { kind: 'refused', why: 'authCanceled' }
    // An initial response that is empty is written as "=" (RFC 4954).
    const text = line === '=' ? '' : decodeBase64(line)
    return text === null ? MALFORMED : next(text)
  }
  return given === undefined ? { kind: 'ask', challenge: base64(challenge), next: onLine } : onLine(given)
}

/** Node decodes anything; a client that forgot to encode must be told. */
function decodeBase64(line: string): string | null {
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(line) || line.length % 4 !== 0) return null
  return Buffer.from(line, 'base64').toString()
}

function decidePlain(expected: Credentials, text: string): AuthStep {
  const parts = text.split('\0')
  if (parts.length !== 3) return MALFORMED
  return decided(parts[1] === expected.user && parts[2] === expected.pass)
}

/** A wrong token is first explained in JSON, and refused when the client has answered that with an empty line. */
function decideOAuth(expected: Credentials, text: string): AuthStep {
  const [user = '', auth = '', ...end] = text.split('\u0001')
  if (!user.startsWith('user=') || !auth.startsWith('auth=Bearer ') || end.join('|') !== '|') return MALFORMED
  if (user === `user=${expected.user}` && auth === `auth=Bearer ${expected.pass}`) return decided(true)
  const challenge = base64(JSON.stringify({ status: '400', schemes: 'Bearer', scope: 'https://mail.google.com/' }))
  return { kind: 'ask', challenge, next: () => decided(false) }
}
