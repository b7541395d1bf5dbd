/**
 * From nothing to an authenticated channel. nodemailer's SMTPConnection says hello, upgrades to TLS and authenticates;
 * then the socket is taken from it, because what follows, the hand-over, needs to know more than it tells: which of
 * several pipelined replies is awaited, whether a reply was whole, and that nothing but 354 opens the body.
 *
 * Nothing here can hand over a message, so whatever goes wrong is safe to try again.
 */
import type { Socket } from 'node:net'
import type { ConnectionOptions } from 'node:tls'

import SMTPConnection, { type Options as SMTPConnectionOptions } from 'nodemailer/lib/smtp-connection'

import type { FailureSigns, LocalRefusal } from '../../domain/classify.js'
import type { Phase } from '../../domain/failure.js'
import type { SmtpSettings } from '../smtp-settings.js'
import { xoauth2Response } from './evidence.js'
import { isLoopbackHost } from './loopback.js'
import { openSocket } from './open-socket.js'
import { type Extensions, SmtpChannel } from './smtp-channel.js'
import { enhancedCodeOf, MAX_REPLY_BYTES, parseReply, type Reply, wordsOf } from './smtp-reply.js'
import type { SmtpTimeouts } from './smtp-timeouts.js'

export type Opened =
  | { readonly kind: 'open'; readonly channel: SmtpChannel; readonly signs: FailureSigns }
  | { readonly kind: 'failed'; readonly signs: FailureSigns; readonly refusal: LocalRefusal | null }
  | { readonly kind: 'aborted' }

/** nodemailer's own timers measure silence; ours measure each step, and must be the first to strike. */
const NEVER_MS = 3_600_000

/** Not called XOAUTH2: under that name nodemailer would take whatever method the server lists first. */
const TOKEN_METHOD = 'ACCESS-TOKEN'

export function openSession(
  settings: SmtpSettings,
  tlsOptions: ConnectionOptions,
  timeouts: SmtpTimeouts,
  signal: AbortSignal | null,
): Promise<Opened> {
  return new Promise((resolve) => {
    let phase: Phase = 'connect'
    let timer: NodeJS.Timeout | undefined
    let socket: Socket | null = null
    let connection: SMTPConnection | null = null
    let isDone = false

    const finish = (opened: Opened) => {
      if (isDone) return
      isDone = true
      clearTimeout(timer)
      signal?.removeEventListener('abort', onAbort)
      if (opened.kind !== 'open') {
        connection?.close()
        // Also what a connection of nodemailer's would only half-close.
        const last = connection?._socket || socket
        last?.on('error', () => {})
        last?.destroy()
        socket?.destroy()
      }
      resolve(opened)
    }
    const fail = (words: string, refusal: LocalRefusal | null = null) =>
      finish({ kind: 'failed', signs: { phase, code: null, enhancedCode: null, reply: words }, refusal })
    const failWith = (error: Error & { response?: string | undefined }) => {
      const reply = error.response ? parseReply(error.response) : null
      if (reply) finish({ kind: 'failed', signs: signsOf(phase, reply), refusal: null })
      else fail(describe(error))
    }
    const enter = (next: Phase, ms: number) => {
      phase = next
      clearTimeout(timer)
      timer = setTimeout(() => fail(`no answer from the server within ${ms / 1000} s`), ms)
    }
    const onAbort = () => finish({ kind: 'aborted' })

    const authenticate = (connection: SMTPConnection) => {
      const { auth, starttls } = settings
      if (auth.kind === 'none') return adopt(connection)
      const remoteAddress = (connection._socket || null)?.remoteAddress ?? ''
      if (!connection.secure && starttls !== 'off' && !isLoopbackHost(remoteAddress)) {
        phase = 'tls'
        return fail('the server offers no encryption, and the password is not sent in clear', 'encryption_unavailable')
      }
      enter('auth', timeouts.commandMs)
      if (!connection.allowsAuth) {
        return fail('the server does not offer authentication', 'authentication_not_offered')
      }
      const credentials =
        auth.kind === 'password' ? { user: auth.user, pass: auth.password } : { user: auth.user, method: TOKEN_METHOD }
      connection.login(credentials, (error) => (error ? failWith(error) : adopt(connection)))
    }

    /** Takes the socket from nodemailer, in the same turn in which the last reply came: none can fall in between. */
    const adopt = (connection: SMTPConnection) => {
      const live = connection._socket
      if (isDone || !live || live.destroyed) return fail('the connection was lost')
      live.removeAllListeners('data')
      live.removeAllListeners('timeout')
      live.setTimeout(0)
      const channel = new SmtpChannel(live, extensionsOf(connection))
      // A reply that came along with the last one is still nodemailer's, and is reported here.
      connection.on('error', (error: Error) => channel.destroy(describe(error)))
      const last = connection.lastServerResponse ? parseReply(connection.lastServerResponse) : null
      finish({
        kind: 'open',
        channel,
        signs: last ? signsOf(phase, last) : { phase, code: null, enhancedCode: null, reply: 'connected' },
      })
    }

    const converse = (socket: Socket) => {
      enter('greeting', timeouts.greetingMs)
      connection = new SMTPConnection({
        ...connectionOptions(settings, tlsOptions),
        connection: socket,
        // The one documented way to hear of each command, and with credentials already masked.
        logger: commandListener((verb) => {
          if (verb === 'EHLO' || verb === 'HELO') enter('greeting', timeouts.commandMs)
          else if (verb === 'STARTTLS') enter('tls', timeouts.commandMs)
        }),
      })
      connection.on('error', failWith)
      connection.on('end', () => fail('the server closed the connection'))
      const opening = connection
      opening.connect((error) => (error ? failWith(error) : authenticate(opening)))
    }

    if (signal?.aborted) return finish({ kind: 'aborted' })
    signal?.addEventListener('abort', onAbort)
    enter('connect', timeouts.connectMs)
    const opening = openSocket(
      settings,
      tlsOptions,
      (next) => enter(next, timeouts.commandMs),
      (error) => {
        if (isDone) return
        if (error) fail(describe(error))
        else converse(opening)
      },
    )
    socket = opening
  })
}

function connectionOptions(settings: SmtpSettings, tlsOptions: ConnectionOptions): SMTPConnectionOptions {
  const { auth, starttls, implicitTls } = settings
  return {
    host: settings.host,
    port: settings.port,
    secure: implicitTls,
    secured: implicitTls,
    requireTLS: !implicitTls && starttls === 'required',
    ignoreTLS: starttls === 'off',
    opportunisticTLS: starttls === 'opportunistic',
    ...(settings.helloName !== null && { name: settings.helloName }),
    tls: tlsOptions,
    maxResponseSize: MAX_REPLY_BYTES,
    connectionTimeout: NEVER_MS,
    greetingTimeout: NEVER_MS,
    socketTimeout: NEVER_MS,
    transactionLog: true,
    ...(auth.kind === 'xoauth2' && {
      customAuth: { [TOKEN_METHOD]: (context) => authenticateWithToken(context, auth.user, auth.accessToken) },
    }),
  }
}

type AuthContext = Parameters<NonNullable<SMTPConnectionOptions['customAuth']>[string]>[0]

/** nodemailer's own XOAUTH2 answers a refusal by fetching another token, and loses the server's words about the first. */
async function authenticateWithToken(context: AuthContext, user: string, accessToken: string): Promise<void> {
  let reply = await context.sendCommand(`AUTH XOAUTH2 ${xoauth2Response(user, accessToken)}`)
  // The reason in JSON; the refusal itself follows an empty line of ours.
  if (reply.status === 334) reply = await context.sendCommand('')
  if (reply.status < 200 || reply.status > 299) throw new Error('the access token was refused')
}

function commandListener(onCommand: (verb: string) => void): SMTPConnectionOptions['logger'] {
  const ignore = () => {}
  const debug = (entry: { tnx?: string }, line?: string) => {
    if (entry.tnx === 'client') onCommand((line ?? '').split(' ', 1)[0]!.toUpperCase())
  }
  return { trace: ignore, debug, info: ignore, warn: ignore, error: ignore, fatal: ignore }
}

/** From nodemailer's reading of EHLO, which is not in its types. */
function extensionsOf(connection: SMTPConnection): Extensions {
  const { _supportedExtensions: names, _maxAllowedSize: maxMessageBytes } = connection as unknown as {
    _supportedExtensions: readonly string[]
    _maxAllowedSize: number
  }
  return {
    pipelining: names.includes('PIPELINING'),
    smtpUtf8: names.includes('SMTPUTF8'),
    size: names.includes('SIZE'),
    maxMessageBytes,
  }
}

export function signsOf(phase: Phase, reply: Reply): FailureSigns {
  return { phase, code: reply.code, enhancedCode: enhancedCodeOf(reply), reply: wordsOf(reply) }
}

function describe(error: Error): string {
  // An attempt at every address of a host fails with all their errors in one, whose own message is empty.
  if (error instanceof AggregateError) return error.errors.map((each: Error) => each.message).join('; ')
  return error.message
}
