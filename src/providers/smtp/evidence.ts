import type { FailureSigns } from '../../domain/classify.js'
import type { Evidence } from '../../domain/failure.js'
import type { SmtpSettings } from '../smtp-settings.js'

const MAX_REPLY_CHARACTERS = 500
/** Shorter pieces of a secret than this also occur in ordinary words. */
const TELLING_LENGTH = 6

/** Turns what a conversation saw into what is kept of it: short, printable, and without a secret. */
export type EvidenceWriter = (signs: FailureSigns, startedAt: number) => Evidence

export function createEvidenceWriter(settings: SmtpSettings): EvidenceWriter {
  const host = settings.host.includes(':') ? `[${settings.host}]` : settings.host
  const remoteHost = `${host}:${settings.port}`
  const secrets = secretsOf(settings.auth)
  return ({ phase, code, enhancedCode, reply }, startedAt) => ({
    phase,
    code,
    enhancedCode,
    reply: printable(redact(reply, secrets)).slice(0, MAX_REPLY_CHARACTERS),
    remoteHost,
    durationMs: Math.round(performance.now() - startedAt),
  })
}

/** Every shape in which a credential goes over the wire. */
interface Secrets {
  /** Taken out where it stands. */
  readonly plain: string
  /** Encoded, so that no ordinary word resembles them: taken out in pieces as well. */
  readonly encoded: readonly string[]
}

function secretsOf(auth: SmtpSettings['auth']): Secrets | null {
  const base64 = (text: string) => Buffer.from(text).toString('base64')
  switch (auth.kind) {
    case 'none':
      return null
    case 'password':
      return {
        plain: auth.password,
        encoded: [base64(auth.password), base64(`\0${auth.user}\0${auth.password}`)],
      }
    case 'xoauth2':
      return { plain: auth.accessToken, encoded: [auth.accessToken, xoauth2Response(auth.user, auth.accessToken)] }
  }
}

/** What AUTH XOAUTH2 is given. */
export function xoauth2Response(user: string, accessToken: string): string {
  return Buffer.from(`user=${user}\x01auth=Bearer ${accessToken}\x01\x01`).toString('base64')
}

/** Some servers repeat the command they did not like, cut short at their convenience. */
function redact(text: string, secrets: Secrets | null): string {
  if (secrets === null) return text
  return text
    .replaceAll(secrets.plain, '[redacted]')
    .replace(/[A-Za-z0-9+/=._~-]+/g, (word) =>
      secrets.encoded.some((secret) => sharesPiece(word, secret)) ? '[redacted]' : word,
    )
}

/** Whether the word carries a telling beginning of the secret, or is a telling piece of it. */
function sharesPiece(word: string, secret: string): boolean {
  if (word.length < TELLING_LENGTH || secret.length < TELLING_LENGTH) return false
  return secret.includes(word) || word.includes(secret.slice(0, TELLING_LENGTH))
}

function printable(text: string): string {
  // Characters that end a line, move a cursor or turn the direction of writing have no business in a log or on a screen.
  // oxlint-disable-next-line no-control-regex
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]+/g, ' ').trim()
}
