import { SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import type { Database } from '../db/client.js'
import { pauseSender, slowSender, unslowSender } from '../db/senders.js'
import type { LeasedAction, Reason } from '../domain/action.js'
import { foldAddress, maskAddress } from '../domain/address.js'
import type { Attempt } from '../domain/attempt.js'
import { BULK_LANE } from '../domain/lane.js'
import type { Evidence, FailureClass } from '../domain/failure.js'
import { newId } from '../id.js'
import type { Log } from '../log.js'
import type { DeliveryLoader } from '../operations/load-delivery.js'
import type { Provider, ProviderResult } from '../providers/provider.js'
import type { Grip, HandlerOutcome, HandOverHandler } from './handler.js'
import { whileAway } from './while-away.js'

/**
 * Sends: the handler of `send` actions. It looks once more whether the email may go out, has a provider hand it over,
 * and says what the answer means: for the email, for its sender, for the address.
 */
export interface SenderOptions {
  readonly db: Database
  readonly log: Log
  readonly worker: string
  /** What is to be sent, or why it is not. */
  readonly loader: DeliveryLoader
  /** Null when the sender was removed; without a provider when this process cannot send for it. */
  readonly providerOf: (workspaceId: string, senderId: string) => Promise<{ readonly provider: Provider | null } | null>
  readonly onAttempt?: (attempt: Attempt) => void
}

/** A worker without the settings for a sender leaves its emails to one that has them. */
const ELSEWHERE_WAIT_MS = 5_000

export function createSender(options: SenderOptions): HandOverHandler {
  const { db, log, worker, loader, providerOf } = options
  /** Senders this process has slowed: the next accepted email says that they need it no longer. */
  const slowed = new Set<string>()

  const handOver = async (action: LeasedAction, grip: Grip): Promise<HandlerOutcome> => {
    const { recipient } = action.payload as { recipient: string }
    const { workspaceId } = action
    const loaded = await loader.load(action)
    switch (loaded.kind) {
      case 'fail':
        return { kind: 'failed', reason: loaded.reason }
      case 'skip':
        return { kind: 'skipped', reason: loaded.reason }
      case 'later':
        return { kind: 'release', waitMs: loaded.waitMs }
      case 'lost':
        return { kind: 'release' }
      case 'ready':
    }
    const { message, senderId, bookedOn, keepsGap } = loaded
    const found = await providerOf(workspaceId, senderId)
    if (!found) return fail('sender_missing', 'The sender of this email was removed.')
    const { provider } = found
    if (!provider) {
      log.error(
        { sender: senderId },
        'this process has no SMTP_URL, but the sender sends by SMTP; left for another worker',
      )
      return { kind: 'release', waitMs: ELSEWHERE_WAIT_MS }
    }

    const bulk = action.priority >= BULK_LANE.priority
    const delivery = { actionId: action.id, message, returnPath: message.from.address, recipient, bulk }
    const result = await traced(() => provider.send(delivery, grip))
    if (result.kind === 'released') return release(action, grip)
    const attempt = toAttempt(result, action)
    options.onAttempt?.(attempt)
    logAttempt(message.id, action, recipient, attempt)
    if (result.kind !== 'accepted')
      return { ...(await conclude(result, action, senderId, recipient, loaded.inline)), attempt }
    if (slowed.delete(senderId)) void unslowSender(db, workspaceId, senderId).catch(() => slowed.add(senderId))
    const booking = bookedOn !== null && { senderId, day: bookedOn, ...(keepsGap && { keepsGap }) }
    return { kind: 'done', attempt, ...(booking && { booking }) }
  }

  const logAttempt = (email: string, action: LeasedAction, recipient: string, attempt: Attempt) => {
    if (!log.isLevelEnabled('info')) return
    const { outcome, failure, phase, code, durationMs } = attempt
    log.info(
      {
        email,
        action: action.id,
        to: maskAddress(recipient),
        attempt: action.attempts + 1,
        ...(action.inline && { inline: true }),
        outcome,
        ...(failure && { failure }),
        phase,
        code,
        ms: Math.round(durationMs),
      },
      'attempt',
    )
  }

  const conclude = async (
    result: Exclude<ProviderResult, { kind: 'released' | 'accepted' }>,
    action: LeasedAction,
    senderId: string,
    recipient: string,
    inline: boolean,
  ): Promise<HandlerOutcome> => {
    const { workspaceId } = action
    const text = describe(result.evidence)
    switch (result.kind) {
      case 'uncertain':
        return { kind: 'uncertain', reason: { code: 'no_reply', text } }
      case 'deferred':
        return result.failure === 'throttled'
          ? slow(result, action, senderId, text)
          : retry({ code: 'transient', text }, action, inline)
      case 'rejected':
        if (result.failure === 'sender') await pause(workspaceId, senderId, text)
        if (result.failure !== 'recipient') return fail(result.failure, text)
        log.info({ to: maskAddress(recipient) }, 'address suppressed: its server does not know it')
        // Written with the outcome: an address that is suppressed before its email has failed would hide that it did.
        return { ...fail('recipient', text), suppress: { workspaceId, address: foldAddress(recipient), detail: text } }
    }
  }

  const slow = async (
    result: { readonly retryAfterMs?: number },
    { workspaceId }: LeasedAction,
    senderId: string,
    text: string,
  ): Promise<HandlerOutcome> => {
    slowed.add(senderId)
    const waitMs = await whileAway(() => slowSender(db, workspaceId, senderId, result.retryAfterMs))
    log.warn({ sender: senderId, waitMs }, 'the server asks to slow down: the sender is held back')
    return { kind: 'retry', counts: false, waitMs, reason: { code: 'throttled', text } }
  }

  const pause = async (workspaceId: string, senderId: string, reason: string) => {
    await whileAway(() =>
      db.transaction((tx) => pauseSender(tx, workspaceId, senderId, { code: 'authentication_failed', reason })),
    )
    log.error({ sender: senderId }, 'sender paused: its server refused its credentials; the rest waits')
  }

  const toAttempt = (result: Exclude<ProviderResult, { kind: 'released' }>, action: LeasedAction): Attempt => ({
    phase: result.evidence.phase,
    code: result.evidence.code,
    enhancedCode: result.evidence.enhancedCode,
    reply: result.evidence.reply,
    remoteHost: result.evidence.remoteHost,
    durationMs: result.evidence.durationMs,
    id: newId(),
    outcome: result.kind,
    failure: failureOf(result),
    worker,
    inline: action.inline ?? false,
  })

  return { kind: 'hand-over', retryPolicy: 'transactional', handOver, readAhead: loader.readAhead }
}

/**
 * A span per hand-over for whoever watches with OpenTelemetry; without an SDK it costs nothing. One that fails must not
 * take the mail server's answer with it: the email would be uncertain, although everything is known.
 */
const tracer = trace.getTracer('postrider')

async function traced(send: () => Promise<ProviderResult>): Promise<ProviderResult> {
  const span = harmlessly(() => tracer.startSpan('postrider.send', { kind: SpanKind.PRODUCER }))
  let result: ProviderResult | undefined
  try {
    result = await send()
    return result
  } finally {
    const kind = result?.kind ?? 'failed'
    harmlessly(() => {
      span?.setAttribute('postrider.outcome', kind)
      if (kind === 'failed' || kind === 'rejected' || kind === 'uncertain')
        span?.setStatus({ code: SpanStatusCode.ERROR })
      span?.end()
    })
  }
}

function harmlessly<T>(tell: () => T): T | undefined {
  try {
    return tell()
  } catch {
    return undefined
  }
}

const failureOf = (result: Exclude<ProviderResult, { kind: 'released' }>): FailureClass | null =>
  result.kind === 'accepted' ? null : result.kind === 'uncertain' ? 'undecidable' : result.failure

const describe = ({ phase, reply }: Evidence) => `${reply} (${phase})`

const fail = (code: string, text: string): HandlerOutcome => ({ kind: 'failed', reason: { code, text } })

/**
 * An attempt inside the caller's request does not count, but it moves the schedule: the next one comes as late as after
 * a first failure, and those after it as late as after a second, a third, …
 */
const retry = (reason: Reason, action: LeasedAction, inline: boolean): HandlerOutcome => ({
  kind: 'retry',
  reason,
  ...(action.inline && { counts: false }),
  ...(inline && { uncounted: 1 }),
})

/** Nothing was handed over. When that was because the caller could wait no longer, the policy says when to go on. */
const release = (action: LeasedAction, grip: Grip): HandlerOutcome =>
  action.inline && grip.signal.aborted
    ? retry({ code: 'inline_deadline', text: 'It did not go out within the time the caller could wait.' }, action, true)
    : { kind: 'release' }
