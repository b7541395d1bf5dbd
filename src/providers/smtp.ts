import { classifyFailure, type FailureSigns, LOCAL_REFUSALS, type LocalRefusal } from '../domain/classify.js'
import type { FailureClass } from '../domain/failure.js'
import type { Message } from '../domain/message.js'
import type { Delivery, Hold, Provider, ProviderResult, Verification } from './provider.js'
import { createDkimSigner, DkimKeyError } from './smtp/dkim-signer.js'
import { findUtf8Headers, writeEnvelope } from './smtp/envelope.js'
import { createEvidenceWriter } from './smtp/evidence.js'
import { openSession, signsOf } from './smtp/open-session.js'
import { createTlsOptions } from './smtp/open-socket.js'
import { SmtpPool } from './smtp/smtp-pool.js'
import { SMTP_TIMEOUTS, type SmtpTimeouts } from './smtp/smtp-timeouts.js'
import { transact, type TransferOutcome } from './smtp/smtp-transaction.js'
import { normalizeLineBreaks, stuffDots } from './smtp/wire-body.js'
import type { SmtpSettings } from './smtp-settings.js'

export interface SmtpProviderOptions {
  readonly log?: { warn(fields: object, message: string): void }
  readonly timeouts?: Partial<SmtpTimeouts>
}

/** Turns a message into the bytes of its MIME form, the same for every attempt. */
export type ComposeMessage = (message: Message) => Promise<Buffer> | Buffer

const RELEASED: ProviderResult = { kind: 'released' }

/**
 * Hands messages to one SMTP server over its own pool of connections. Each hand-over is one conversation and never a
 * second one, with one exception that hands nothing over: a pooled connection that turns out to have died while idle,
 * before the server said a word about this message, is replaced by a fresh one, once.
 */
export function createSmtpProvider(
  settings: SmtpSettings,
  compose: ComposeMessage,
  options: SmtpProviderOptions = {},
): Provider {
  const timeouts: SmtpTimeouts = { ...SMTP_TIMEOUTS, ...options.timeouts }
  const tlsOptions = createTlsOptions(settings)
  const writeEvidence = createEvidenceWriter(settings)
  const signer = settings.dkim ? createDkimSigner(settings.dkim) : null
  let isClosed = false
  const pool = new SmtpPool({
    maxConnections: settings.maxConnections,
    maxMessagesPerConnection: settings.maxMessagesPerConnection,
    idleMs: timeouts.idleMs,
    fewerConnectionsMs: timeouts.fewerConnectionsMs,
    open: (signal) => openSession(settings, tlsOptions, timeouts, signal),
    isTooMany: (signs) => signs.phase === 'greeting' && classifyFailure(signs).failure === 'throttled',
    onFewer: (limit) =>
      options.log?.warn({ host: settings.host, connections: limit }, 'the server wants fewer connections'),
  })

  const resultOf = (
    startedAt: number,
    signs: FailureSigns,
    failure: FailureClass,
    retryAfterMs?: number,
  ): ProviderResult => {
    const evidence = writeEvidence(signs, startedAt)
    switch (failure) {
      case 'transient':
      case 'throttled':
        return { kind: 'deferred', failure, ...(retryAfterMs !== undefined && { retryAfterMs }), evidence }
      case 'recipient':
      case 'sender':
      case 'message':
        return { kind: 'rejected', failure, evidence }
      case 'undecidable':
        return { kind: 'uncertain', evidence }
    }
  }

  const refuse = (startedAt: number, signs: FailureSigns, refusal: LocalRefusal): ProviderResult =>
    resultOf(startedAt, signs, LOCAL_REFUSALS[refusal])

  const fail = (startedAt: number, signs: FailureSigns): ProviderResult => {
    const { failure, retryAfterMs } = classifyFailure(signs)
    return resultOf(startedAt, signs, failure, retryAfterMs)
  }

  const conclude = (startedAt: number, outcome: TransferOutcome): ProviderResult => {
    switch (outcome.kind) {
      case 'accepted':
        return { kind: 'accepted', evidence: writeEvidence(signsOf('reply', outcome.reply), startedAt) }
      case 'refused':
        return fail(startedAt, signsOf(outcome.phase, outcome.reply))
      case 'broken':
        return fail(startedAt, wordless(outcome.phase, outcome.what))
      case 'released':
        return RELEASED
    }
  }

  const send = async ({ message, returnPath, recipient, bulk }: Delivery, hold: Hold): Promise<ProviderResult> => {
    const startedAt = performance.now()
    if (isClosed || hold.signal.aborted) return RELEASED
    const composed = compose(message)
    let bytes = normalizeLineBreaks(composed instanceof Promise ? await composed : composed)
    if (signer) {
      try {
        bytes = await signer.sign(bytes)
      } catch (error) {
        if (isClosed) return RELEASED
        const signs = wordless('connect', (error as Error).message)
        return error instanceof DkimKeyError ? refuse(startedAt, signs, 'signing_impossible') : fail(startedAt, signs)
      }
    }
    const announcement = { sizeBytes: bytes.length, hasUtf8Headers: findUtf8Headers(bytes) }
    let body: Buffer | null = null
    for (let mustBeFresh = false; ; mustBeFresh = true) {
      const grant = await pool.acquire(hold.signal, { mustBeFresh, bulk: bulk ?? false })
      if (grant.kind === 'released') return RELEASED
      if (grant.kind === 'failed') {
        return grant.refusal ? refuse(grant.since, grant.signs, grant.refusal) : fail(grant.since, grant.signs)
      }
      const { channel, isReused, since } = grant
      const { maxMessageBytes } = channel.extensions
      if (maxMessageBytes > 0 && bytes.length > maxMessageBytes) {
        pool.release(channel)
        const words = `the message is ${bytes.length} bytes, and the server takes at most ${maxMessageBytes}`
        return refuse(since, wordless('mail', words), 'message_too_large')
      }
      const envelope = writeEnvelope(returnPath, recipient, announcement, channel.extensions)
      if (typeof envelope === 'string') {
        pool.release(channel)
        return refuse(since, wordless('mail', envelope), 'address_unusable')
      }
      body ??= stuffDots(bytes)
      const { mail, rcpt } = envelope
      const outcome = await transact({ channel, mail, rcpt, body, hold, timeouts, onFree: giveBack })
      if (isReused && !mustBeFresh && wasDeadWhileIdle(outcome)) continue
      return conclude(since, outcome)
    }
  }
  const giveBack = pool.release.bind(pool)

  const verify = async (signal?: AbortSignal): Promise<Verification> => {
    const startedAt = performance.now()
    const opened = await openSession(settings, tlsOptions, timeouts, signal ?? null)
    if (opened.kind === 'aborted') {
      return { ok: false, evidence: writeEvidence(wordless('connect', 'stopped before an answer came'), startedAt) }
    }
    if (opened.kind === 'open') {
      await new Promise<void>((resolve) => {
        opened.channel.whenEnded(resolve)
        opened.channel.quit()
      })
    }
    return { ok: opened.kind === 'open', evidence: writeEvidence(opened.signs, startedAt) }
  }

  return {
    send,
    verify,
    cutShort: () => pool.cutShort('we had to stop before the server answered'),
    async close() {
      isClosed = true
      await pool.close()
      await signer?.close()
    },
  }
}

/** What happened to a connection, in our words: the server said nothing. */
function wordless(phase: FailureSigns['phase'], reply: string): FailureSigns {
  return { phase, code: null, enhancedCode: null, reply }
}

/** Gone before its first reply, or a 421 that was on its way when we wrote: nothing was handed over. */
function wasDeadWhileIdle(outcome: TransferOutcome): boolean {
  if (outcome.kind === 'broken') return outcome.unanswered && outcome.phase === 'mail'
  return outcome.kind === 'refused' && outcome.phase === 'mail' && outcome.reply.code === 421
}
