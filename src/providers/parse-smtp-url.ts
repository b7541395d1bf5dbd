import { isLoopbackHost } from './smtp/loopback.js'
import type { SmtpSettings } from './smtp-settings.js'

const SUBMISSION_PORT = 587
const SUBMISSIONS_PORT = 465
/** Below what common servers allow one client (Postfix 50, most providers 10 to 20). */
const DEFAULT_CONNECTIONS = 10
/** Postfix, Exchange and Gmail end a connection themselves after about this many. */
const DEFAULT_MESSAGES = 100

const PARAMETERS = ['starttls', 'verify', 'pool', 'messages', 'name', 'auth'] as const
type Parameter = (typeof PARAMETERS)[number]
type Parameters = ReadonlyMap<Parameter, string>

/** `smtp://user:password@host:587?starttls=required`. Never repeats the URL in an error: it holds the password. */
export function parseSmtpUrl(url: string): SmtpSettings {
  const parsed = parseUrl(url)
  const implicitTls = parsed.protocol === 'smtps:'
  const parameters = readParameters(parsed)
  const host = parsed.hostname.replace(/^\[(.*)\]$/, '$1')
  const auth = readAuth(parsed, parameters)
  return {
    host,
    port: parsed.port === '' ? (implicitTls ? SUBMISSIONS_PORT : SUBMISSION_PORT) : Number(parsed.port),
    implicitTls,
    starttls: readStarttls(parameters, host, implicitTls, auth),
    auth,
    tlsServerName: null,
    tlsCa: null,
    verifyCertificate: choose(parameters, 'verify', ['yes', 'no']) !== 'no',
    maxConnections: readCount(parameters, 'pool', DEFAULT_CONNECTIONS),
    maxMessagesPerConnection: readCount(parameters, 'messages', DEFAULT_MESSAGES),
    helloName: readHelloName(parameters),
    dkim: null,
  }
}

function parseUrl(url: string): URL {
  if (!/^smtps?:\/\//i.test(url)) {
    throw new Error('An SMTP URL begins with smtp:// or smtps://, such as smtp://user:password@mail.example.com:587.')
  }
  let parsed: URL
  try {
    parsed = new URL(url)
  } catch {
    // The cause would carry the whole URL, and with it the password.
    throw new Error(
      'The SMTP URL cannot be read. In the user name and the password, write @ as %40, : as %3A, / as %2F and % as %25; the port is a number up to 65535.',
    )
  }
  if (parsed.hostname === '') throw new Error('The SMTP URL names no host: write smtp://mail.example.com.')
  if (parsed.port === '0') throw new Error('The SMTP URL has port 0: write the port of the server, such as 587.')
  if (parsed.pathname !== '' && parsed.pathname !== '/') {
    throw new Error('The SMTP URL has a path: write / as %2F if it belongs to the password, else leave it out.')
  }
  if (parsed.hash !== '') throw new Error('The SMTP URL has a #: write it as %23 if it belongs to the password.')
  return parsed
}

function readParameters(parsed: URL): Parameters {
  const parameters = new Map<Parameter, string>()
  for (const [name, value] of parsed.searchParams) {
    if (!(PARAMETERS as readonly string[]).includes(name)) {
      // Not repeated: an unescaped ? in the password makes its rest look like a parameter.
      throw new Error(`The SMTP URL has a parameter that is not one of ${PARAMETERS.join(', ')}.`)
    }
    parameters.set(name as Parameter, value)
  }
  return parameters
}

function readAuth(parsed: URL, parameters: Parameters): SmtpSettings['auth'] {
  const kind = choose(parameters, 'auth', ['password', 'xoauth2']) ?? 'password'
  const user = decode(parsed.username, 'user name')
  const secret = decode(parsed.password, 'password')
  if (user === '' && secret === '') {
    if (parameters.has('auth'))
      throw new Error('The SMTP URL asks for auth: write the user and the secret before the @.')
    return { kind: 'none' }
  }
  if (user === '') throw new Error('The SMTP URL has a password but no user: write smtp://user:password@host.')
  if (secret === '') throw new Error('The SMTP URL has a user but no password: write smtp://user:password@host.')
  return kind === 'xoauth2' ? { kind, user, accessToken: secret } : { kind, user, password: secret }
}

function decode(text: string, what: string): string {
  let decoded: string
  try {
    decoded = decodeURIComponent(text)
  } catch {
    throw new Error(`The ${what} in the SMTP URL has a % that is not followed by two hex digits: write it as %25.`)
  }
  if (decoded.includes('\0'))
    throw new Error(`The ${what} in the SMTP URL contains a zero byte, which SMTP cannot carry.`)
  return decoded
}

/** Where a password is at stake on a network, the default is not to go on without TLS. */
function readStarttls(
  parameters: Parameters,
  host: string,
  implicitTls: boolean,
  auth: SmtpSettings['auth'],
): SmtpSettings['starttls'] {
  const chosen = choose(parameters, 'starttls', ['opportunistic', 'required', 'off'])
  if (implicitTls) {
    if (chosen !== null && chosen !== 'off') {
      throw new Error('smtps:// is TLS from the first byte: leave starttls out, or use smtp://.')
    }
    return 'off'
  }
  return chosen ?? (auth.kind !== 'none' && !isLoopbackHost(host) ? 'required' : 'opportunistic')
}

function readHelloName(parameters: Parameters): string | null {
  const name = parameters.get('name')
  if (name === undefined) return null
  if (!/^[A-Za-z0-9.:[\]-]{1,255}$/.test(name)) {
    throw new Error('name in the SMTP URL is what we call ourselves in EHLO: a host name, such as mail.example.com.')
  }
  return name
}

function readCount(parameters: Parameters, name: Parameter, fallback: number): number {
  const text = parameters.get(name)
  if (text === undefined) return fallback
  const count = Number(text)
  if (!/^\d{1,6}$/.test(text) || count < 1) {
    throw new Error(`${name} in the SMTP URL is a whole number of at least 1, such as ${name}=${fallback}.`)
  }
  return count
}

function choose<T extends string>(parameters: Parameters, name: Parameter, choices: readonly T[]): T | null {
  const value = parameters.get(name)
  if (value === undefined) return null
  const choice = choices.find((candidate) => candidate === value)
  if (choice === undefined) throw new Error(`${name} in the SMTP URL is one of ${choices.join(', ')}.`)
  return choice
}
