/**
 * The connections of one process to one server. First come, first served, but single emails before bulk, and one
 * connection is never bulk's if there are two; the connection used last is used next, so that the others can grow old
 * and go. Not nodemailer's pool, which hands a message to another connection by itself
 * when one is lost, wherever in the conversation that was.
 */
import type { FailureSigns, LocalRefusal } from '../../domain/classify.js'
import { offAbort, onAbort } from './abort-listeners.js'
import type { Opened } from './open-session.js'
import type { SmtpChannel } from './smtp-channel.js'

/** `since`: when its turn came, so that waiting for a connection does not pass for a slow server. */
export type Grant =
  | { readonly kind: 'channel'; readonly channel: SmtpChannel; readonly isReused: boolean; readonly since: number }
  | {
      readonly kind: 'failed'
      readonly signs: FailureSigns
      readonly refusal: LocalRefusal | null
      readonly since: number
    }
  /** The signal came, or the pool was closed. */
  | { readonly kind: 'released' }

export interface PoolOptions {
  readonly maxConnections: number
  readonly maxMessagesPerConnection: number
  readonly idleMs: number
  readonly fewerConnectionsMs: number
  readonly open: (signal: AbortSignal) => Promise<Opened>
  /** Whether the server refused a connection only because there are too many. */
  readonly isTooMany: (signs: FailureSigns) => boolean
  readonly onFewer: (limit: number) => void
}

export interface Wish {
  /** Passes over connections that were used before. */
  readonly mustBeFresh?: boolean
  readonly bulk?: boolean
}

interface Waiter {
  readonly signal: AbortSignal
  readonly mustBeFresh: boolean
  readonly bulk: boolean
  readonly answer: (grant: Grant) => void
  readonly onAbort: () => void
}

const RELEASED: Grant = { kind: 'released' }

/**
 * Connections opened at the same time, or a quarter of those there are, if that is more. Who finds all of them busy for a
 * moment would otherwise open as many as there is room for: that takes longer than waiting, holds up everybody else, and
 * looks to the server like an attack.
 */
const OPENED_AT_ONCE = 8
const GROWTH = 4

export class SmtpPool {
  readonly #options: PoolOptions
  /** The one used last is at the end. */
  readonly #idle: SmtpChannel[] = []
  readonly #idleTimers = new WeakMap<SmtpChannel, NodeJS.Timeout>()
  /** How many messages each may carry. */
  readonly #lives = new WeakMap<SmtpChannel, number>()
  readonly #waiters = { single: new Set<Waiter>(), bulk: new Set<Waiter>() }
  readonly #inUse = new Set<SmtpChannel>()
  /** Those that bulk is using. */
  readonly #inBulk = new Set<SmtpChannel>()
  #openingForBulk = 0
  /** Open, and being opened. */
  #size = 0
  #opening = 0
  #fewer: { readonly limit: number; readonly until: number } | null = null
  #closing: Promise<void> | null = null
  #onEmpty: (() => void) | null = null

  constructor(options: PoolOptions) {
    this.#options = options
  }

  acquire(signal: AbortSignal, { mustBeFresh = false, bulk = false }: Wish = {}): Promise<Grant> {
    return new Promise((answer) => {
      const waiter: Waiter = { signal, mustBeFresh, bulk, answer, onAbort: () => this.#leave(waiter, RELEASED) }
      if (this.#closing !== null || signal.aborted) return answer(RELEASED)
      const isFirst = this.#waiters.single.size === 0 && (!bulk || this.#waiters.bulk.size === 0)
      if (isFirst && this.#serve(waiter)) return
      this.#wait(waiter)
    })
  }

  /** Gives a channel back whose transaction is over. */
  release(channel: SmtpChannel): void {
    this.#inUse.delete(channel)
    this.#inBulk.delete(channel)
    if (channel.isGone) return
    if (this.#closing !== null || channel.served >= this.#lives.get(channel)!) return channel.quit()
    this.#idle.push(channel)
    const timer = this.#idleTimers.get(channel)
    if (timer) timer.refresh()
    else
      this.#idleTimers.set(
        channel,
        setTimeout(() => this.#endIfIdle(channel), this.#options.idleMs),
      )
    this.#serveWaiters()
  }

  /** Idle connections go at once, those in use when they are given back. */
  close(): Promise<void> {
    this.#closing ??= new Promise((resolve) => {
      this.#onEmpty = resolve
      for (const waiter of this.#everyWaiter()) this.#leave(waiter, RELEASED)
      for (const channel of this.#idle.splice(0)) channel.quit()
      if (this.#size === 0) resolve()
    })
    return this.#closing
  }

  /** Ends those in use, wherever their conversations are. */
  cutShort(why: string): void {
    for (const channel of this.#inUse) channel.destroy(why)
  }

  #limit(): number {
    const { maxConnections } = this.#options
    if (this.#fewer === null) return maxConnections
    if (performance.now() < this.#fewer.until) return Math.min(this.#fewer.limit, maxConnections)
    this.#fewer = null
    return maxConnections
  }

  #mostOpening(): number {
    return Math.max(OPENED_AT_ONCE, (this.#size - this.#opening) / GROWTH)
  }

  #wait(waiter: Waiter): void {
    if (waiter.signal.aborted) return waiter.answer(RELEASED)
    this.#queueOf(waiter).add(waiter)
    onAbort(waiter.signal, waiter.onAbort)
  }

  #leave(waiter: Waiter, grant: Grant): void {
    this.#queueOf(waiter).delete(waiter)
    offAbort(waiter.signal, waiter.onAbort)
    waiter.answer(grant)
  }

  #queueOf = ({ bulk }: Waiter): Set<Waiter> => (bulk ? this.#waiters.bulk : this.#waiters.single)

  #everyWaiter = (): Waiter[] => [...this.#waiters.single, ...this.#waiters.bulk]

  #serveWaiters(): void {
    for (const queue of [this.#waiters.single, this.#waiters.bulk])
      for (const waiter of queue) {
        if (!this.#serve(waiter)) return
        queue.delete(waiter)
        offAbort(waiter.signal, waiter.onAbort)
      }
  }

  /** False when there is nothing to give. */
  #serve(waiter: Waiter): boolean {
    if (waiter.bulk && this.#inBulk.size + this.#openingForBulk >= Math.max(1, this.#limit() - 1)) return false
    const channel = this.#idle.at(-1)
    if (channel && !waiter.mustBeFresh) {
      this.#idle.pop()
      this.#take(channel, waiter)
      waiter.answer({ kind: 'channel', channel, isReused: true, since: performance.now() })
      return true
    }
    if (this.#opening >= this.#mostOpening()) return false
    // Its place is what is needed.
    this.#idle.pop()?.quit()
    const places = this.#limit() + (channel ? 1 : 0)
    if (this.#size >= places) return false
    void this.#open(waiter)
    return true
  }

  async #open(waiter: Waiter): Promise<void> {
    this.#size++
    this.#opening++
    if (waiter.bulk) this.#openingForBulk++
    const since = performance.now()
    const opened = await this.#options.open(waiter.signal)
    this.#opening--
    if (waiter.bulk) this.#openingForBulk--
    if (opened.kind === 'open') {
      this.#lives.set(opened.channel, this.#newLife())
      this.#take(opened.channel, waiter)
      opened.channel.whenEnded(() => this.#forget(opened.channel))
      waiter.answer({ kind: 'channel', channel: opened.channel, isReused: false, since })
      // Whoever waited for others to be open.
      return this.#serveWaiters()
    }
    const others = this.#size - this.#opening - 1
    if (opened.kind === 'failed' && this.#options.isTooMany(opened.signs)) this.#keepTo(Math.max(1, others))
    if (opened.kind === 'aborted' || this.#closing !== null) waiter.answer(RELEASED)
    // Too many of our own: the message has not begun, so it waits for one of those that were let in.
    else if (others > 0 && this.#options.isTooMany(opened.signs)) this.#wait(waiter)
    else waiter.answer({ ...opened, since })
    this.#shrink()
  }

  /**
   * What is used evenly would end together, and opening fifty connections at once holds up everybody: so each has a life
   * of its own, up to a quarter shorter.
   */
  #newLife(): number {
    const most = this.#options.maxMessagesPerConnection
    return most - Math.floor(Math.random() * (most / 4))
  }

  #take(channel: SmtpChannel, { bulk }: Waiter): void {
    this.#inUse.add(channel)
    if (bulk) this.#inBulk.add(channel)
  }

  #keepTo(limit: number): void {
    this.#fewer = { limit, until: performance.now() + this.#options.fewerConnectionsMs }
    this.#options.onFewer(limit)
  }

  #endIfIdle(channel: SmtpChannel): void {
    const index = this.#idle.indexOf(channel)
    if (index === -1) return
    this.#idle.splice(index, 1)
    channel.quit()
  }

  #forget(channel: SmtpChannel): void {
    clearTimeout(this.#idleTimers.get(channel))
    this.#inUse.delete(channel)
    this.#inBulk.delete(channel)
    const index = this.#idle.indexOf(channel)
    if (index !== -1) this.#idle.splice(index, 1)
    this.#shrink()
  }

  #shrink(): void {
    this.#size--
    if (this.#size === 0) this.#onEmpty?.()
    this.#serveWaiters()
  }
}
