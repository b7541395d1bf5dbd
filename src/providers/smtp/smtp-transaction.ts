/**
 * One message for one recipient over an open channel: MAIL, RCPT, DATA, the arm, the body, the reply.
 *
 * Up to 354 everything can be taken back: an abort, a refusal or a drop ends in "nothing was handed over". The arm is
 * asked for after 354, when all that could go wrong with the envelope has, and before the first byte of the body. From
 * that byte on only a whole reply decides; without one the outcome is `broken` in phase `body` or `reply`, and nobody
 * can know what the server did.
 */
import type { Phase } from '../../domain/failure.js'
import type { Hold } from '../provider.js'
import { offAbort, onAbort } from './abort-listeners.js'
import type { ChannelListener, SmtpChannel } from './smtp-channel.js'
import type { Reply } from './smtp-reply.js'
import type { SmtpTimeouts } from './smtp-timeouts.js'

export interface Transfer {
  readonly channel: SmtpChannel
  /** The MAIL command with its parameters, without its line break. */
  readonly mail: string
  readonly rcpt: string
  /** As DATA carries it, final dot included. */
  readonly body: Buffer
  readonly hold: Hold
  readonly timeouts: SmtpTimeouts
  /** The channel can take another message. May come after the outcome, and not at all when the channel is gone. */
  readonly onFree: (channel: SmtpChannel) => void
}

export type TransferOutcome =
  | { readonly kind: 'accepted'; readonly reply: Reply }
  | { readonly kind: 'refused'; readonly phase: Phase; readonly reply: Reply }
  /** `unanswered`: the server had not said a word about this message. */
  | { readonly kind: 'broken'; readonly phase: Phase; readonly what: string; readonly unanswered: boolean }
  | { readonly kind: 'released' }

/** `arming` waits for our own database and not for the server; `clearing` readies the channel for the next message. */
type Step = 'mail' | 'rcpt' | 'data' | 'arming' | 'body' | 'reply' | 'clearing'

/** Written in stretches of this size, so that the deadline is for a stretch and a slow line can carry a large body. */
const STRETCH_BYTES = 256 * 1024

export function transact(transfer: Transfer): Promise<TransferOutcome> {
  return new Promise((resolve, reject) => new Transaction(transfer, resolve, reject).start())
}

class Transaction implements ChannelListener {
  readonly #transfer: Transfer
  readonly #channel: SmtpChannel
  readonly #resolve: (outcome: TransferOutcome) => void
  readonly #reject: (error: unknown) => void
  #step: Step = 'mail'
  #timer: NodeJS.Timeout | undefined
  #unanswered = true
  #writtenBytes = 0
  /** Replies still to come before the channel is clear. */
  #outstanding = 0

  constructor(transfer: Transfer, resolve: (outcome: TransferOutcome) => void, reject: (error: unknown) => void) {
    this.#transfer = transfer
    this.#channel = transfer.channel
    this.#resolve = resolve
    this.#reject = reject
  }

  start(): void {
    const { mail, rcpt, hold, timeouts, onFree } = this.#transfer
    if (this.#channel.gone !== null) return this.#fail(this.#channel.gone)
    if (hold.signal.aborted) {
      onFree(this.#channel)
      return this.#resolve({ kind: 'released' })
    }
    this.#channel.listener = this
    this.#channel.served++
    onAbort(hold.signal, this.#onAbort)
    this.#timer = setTimeout(this.#onDeadline, timeouts.commandMs)
    // RFC 2920: the envelope in one packet. DATA may go along because the body waits for its 354 in any case.
    this.#channel.write(this.#channel.extensions.pipelining ? `${mail}\r\n${rcpt}\r\nDATA\r\n` : `${mail}\r\n`)
  }

  onReply(reply: Reply): void {
    this.#unanswered = false
    switch (this.#step) {
      case 'mail':
        return this.#advance(reply, 'rcpt', this.#transfer.rcpt)
      case 'rcpt':
        return this.#advance(reply, 'data', 'DATA')
      case 'data':
        if (reply.code === 354) return void this.#armAndSend()
        return reply.code >= 400
          ? this.#refuse('data', reply)
          : this.#break(`the server answered DATA with ${reply.code}`)
      case 'arming':
        // Most often the server's own impatience (421). The body has not begun, and now never will.
        return this.#channel.destroy(`the server said ${reply.code} before it was given the message`)
      case 'body':
      case 'reply':
        return this.#conclude(reply)
      case 'clearing':
        return this.#clear(reply)
    }
  }

  onGone(what: string): void {
    switch (this.#step) {
      case 'clearing':
        return this.#settle()
      case 'arming':
        // Whether the arm was committed is known only to its answer; #armAndSend waits for it.
        return
      default:
        return this.#fail(what)
    }
  }

  /** A 2xx to MAIL or RCPT leads on to the next command. */
  #advance(reply: Reply, next: 'rcpt' | 'data', command: string): void {
    if (reply.code >= 400) return this.#refuse(this.#step as Phase, reply)
    if (reply.code >= 300) return this.#break(`the server answered ${this.#step.toUpperCase()} with ${reply.code}`)
    this.#step = next
    this.#timer?.refresh()
    if (!this.#channel.extensions.pipelining) this.#channel.write(`${command}\r\n`)
  }

  async #armAndSend(): Promise<void> {
    const { hold, timeouts } = this.#transfer
    // A server that has already begun its next reply is not listening to us.
    if (this.#channel.hasUnread) return this.#break('the server went on talking after 354')
    this.#step = 'arming'
    clearTimeout(this.#timer)
    let isArmed: boolean
    try {
      isArmed = await hold.arm()
    } catch (error) {
      this.#settle()
      this.#channel.destroy('the arm failed')
      return this.#reject(error)
    }
    if (!isArmed) return this.#release()
    const { gone } = this.#channel
    if (gone !== null) {
      // Armed, but not a byte of the body was written.
      this.#step = 'data'
      return this.#fail(gone)
    }
    if (!hold.holds()) return this.#release()
    this.#step = 'body'
    this.#timer = setTimeout(this.#onDeadline, timeouts.bodyMs)
    this.#writeStretch()
  }

  #writeStretch(): void {
    const { body } = this.#transfer
    const from = this.#writtenBytes
    this.#writtenBytes = Math.min(from + STRETCH_BYTES, body.length)
    const stretch = from === 0 && this.#writtenBytes === body.length ? body : body.subarray(from, this.#writtenBytes)
    this.#channel.writeBytes(stretch, this.#onStretchWritten)
  }

  readonly #onStretchWritten = (): void => {
    if (this.#step !== 'body') return
    if (this.#writtenBytes < this.#transfer.body.length) {
      this.#timer?.refresh()
      return this.#writeStretch()
    }
    this.#step = 'reply'
    clearTimeout(this.#timer)
    this.#timer = setTimeout(this.#onDeadline, this.#transfer.timeouts.replyMs)
  }

  /** The reply to the message. One that comes before the whole message was written can only be a refusal. */
  #conclude(reply: Reply): void {
    const isWhole = this.#writtenBytes === this.#transfer.body.length
    if (reply.code >= 400) {
      const phase = this.#step as Phase
      this.#settle()
      this.#resolve({ kind: 'refused', phase, reply })
      // The rest of a body that was refused half-way must not be read as commands.
      if (reply.code === 421 || phase === 'body') this.#channel.destroy('the message was refused')
      else this.#transfer.onFree(this.#channel)
      return
    }
    if (reply.code >= 300 || !isWhole) return this.#break(`the server answered the message with ${reply.code}`)
    this.#settle()
    this.#resolve({ kind: 'accepted', reply })
    this.#transfer.onFree(this.#channel)
  }

  /** The outcome is known; the channel still has replies to come, and a transaction to forget. */
  #refuse(phase: Phase, reply: Reply): void {
    offAbort(this.#transfer.hold.signal, this.#onAbort)
    this.#resolve({ kind: 'refused', phase, reply })
    if (reply.code === 421) {
      this.#settle()
      return this.#channel.destroy('the server said 421')
    }
    const pipelined = this.#channel.extensions.pipelining ? { mail: 2, rcpt: 1 }[phase as string] : 0
    this.#step = 'clearing'
    this.#outstanding = (pipelined ?? 0) + 1
    this.#timer?.refresh()
    this.#channel.write('RSET\r\n')
  }

  #clear(reply: Reply): void {
    // A server that takes DATA without a recipient would read RSET as the body; and one that refuses RSET is confused.
    const isUsable = reply.code !== 354 && reply.code !== 421 && (this.#outstanding > 1 || reply.code < 300)
    this.#outstanding--
    if (isUsable && this.#outstanding > 0) return
    this.#settle()
    if (isUsable) this.#transfer.onFree(this.#channel)
    else this.#channel.destroy('the server could not be made ready for another message')
  }

  /** Not SMTP, or not in this place: a drop in other words. */
  #break(what: string): void {
    this.#channel.destroy(what)
  }

  #fail(what: string): void {
    const phase = this.#step as Phase
    this.#settle()
    this.#resolve({ kind: 'broken', phase, what, unanswered: this.#unanswered })
  }

  #release(): void {
    this.#settle()
    this.#channel.destroy('given up before the message')
    this.#resolve({ kind: 'released' })
  }

  #settle(): void {
    clearTimeout(this.#timer)
    offAbort(this.#transfer.hold.signal, this.#onAbort)
    this.#channel.listener = null
  }

  readonly #onAbort = (): void => {
    // From the arm on it is the arm's answer that counts.
    if (this.#step === 'mail' || this.#step === 'rcpt' || this.#step === 'data') this.#release()
  }

  readonly #onDeadline = (): void => {
    const { commandMs, bodyMs, replyMs } = this.#transfer.timeouts
    const ms = this.#step === 'body' ? bodyMs : this.#step === 'reply' ? replyMs : commandMs
    this.#channel.destroy(
      this.#step === 'body'
        ? `the server stopped taking the message for ${ms / 1000} s`
        : `no answer from the server within ${ms / 1000} s`,
    )
  }
}
