import type { Evidence } from '../domain/failure.js'
import type { Message } from '../domain/message.js'

/**
 * Who accepts mail. One hand-over is one message for one recipient: its answer is about nobody else.
 *
 * A provider never retries, never queues and never decides what a failure leads to. It asks for the arm after
 * everything that can still be taken back and before the first byte that cannot, and it returns what happened; it
 * throws only for bugs.
 */
export interface Provider {
  send(delivery: Delivery, hold: Hold): Promise<ProviderResult>
  /** Connects, says hello and authenticates, without sending: for `test` and `doctor`. */
  verify(signal?: AbortSignal): Promise<Verification>
  /** Ends idle connections at once and those in use when their conversation is over. */
  close(): Promise<void>
  /** Ends conversations where they are. Of one whose body has begun nobody can know then. */
  cutShort(): void
}

export interface Delivery {
  readonly actionId: string
  readonly message: Message
  /** The envelope's sender: where bounces go. */
  readonly returnPath: string
  /** The one envelope recipient of this hand-over. */
  readonly recipient: string
  /** It can wait for those that are not: a campaign has thousands, and somebody waits for a single email. */
  readonly bulk?: boolean
}

/** The worker's hold on the action; see engine/handler.ts. */
export interface Hold {
  /** Commits the decision to hand over. Only after `true` may the first byte of the body leave. */
  arm(): Promise<boolean>
  /** Asked once more right before that byte. */
  holds(): boolean
  /** Aborted when the lease is lost, the worker stops or a deadline passes. Of no meaning once armed. */
  readonly signal: AbortSignal
}

export type ProviderResult =
  | { readonly kind: 'accepted'; readonly evidence: Evidence }
  | {
      readonly kind: 'deferred'
      readonly failure: 'transient' | 'throttled'
      /** What the server asked for, if it did. */
      readonly retryAfterMs?: number
      readonly evidence: Evidence
    }
  | { readonly kind: 'rejected'; readonly failure: 'recipient' | 'sender' | 'message'; readonly evidence: Evidence }
  /** The body had begun and no reply came: nobody can know. */
  | { readonly kind: 'uncertain'; readonly evidence: Evidence }
  /** The arm was refused, or the signal came before it: nothing was handed over and nothing went wrong. */
  | { readonly kind: 'released' }

export type Verification =
  | { readonly ok: true; readonly evidence: Evidence }
  | { readonly ok: false; readonly evidence: Evidence }
