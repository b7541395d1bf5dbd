/**
 * Who may use the session. PGlite has exactly one, and every connection shares it, so they take turns: one unit each,
 * first come first served, except that whoever is inside a transaction keeps the session until it ends. Otherwise the
 * statements of two connections would end up in one transaction.
 */

export interface Participant {
  /** Has something to run now. */
  readonly ready: boolean
  /** Runs one unit, without a break; true keeps the session (a transaction is open). */
  takeTurn(): boolean
  /** Sat too long on an open transaction: must leave, and call `leave`. */
  evict(): void
}

/**
 * How long a connection may hold a transaction open without sending anything. Nobody else can do anything meanwhile.
 * Shorter would end clients that are merely slow (a debugger, a machine under load), longer lets one stuck client
 * stop the mail.
 */
const IDLE_IN_TRANSACTION_MS = 30_000

export class SessionTurns {
  readonly #idleLimitMs: number
  #holder: Participant | null = null
  #waiting: Participant[] = []
  #running = false
  #idleTimer: NodeJS.Timeout | null = null

  constructor(idleLimitMs = IDLE_IN_TRANSACTION_MS) {
    this.#idleLimitMs = idleLimitMs
  }

  get busy(): boolean {
    return this.#holder !== null || this.#waiting.length > 0
  }

  holds(participant: Participant): boolean {
    return this.#holder === participant
  }

  /** Call whenever a participant has become ready. */
  request(participant: Participant): void {
    if (this.#holder !== participant && !this.#waiting.includes(participant)) this.#waiting.push(participant)
    this.#drain()
  }

  /** Runs once before anybody else's next turn, but never inside somebody's transaction. */
  requestFirst(run: () => void): void {
    this.#waiting.unshift(once(run))
    this.#drain()
  }

  /** Gives up the session and the place in the queue. */
  leave(participant: Participant): void {
    this.#waiting = this.#waiting.filter((other) => other !== participant)
    if (this.#holder === participant) this.#hold(null)
    this.#drain()
  }

  #drain(): void {
    // A turn may itself make somebody ready or make somebody leave; the loop that is already running sees to it.
    if (this.#running) return
    this.#running = true
    try {
      for (let next = this.#next(); next; next = this.#next()) {
        this.#hold(next.takeTurn() ? next : null)
        if (this.#holder !== next && next.ready) this.#waiting.push(next)
      }
    } finally {
      this.#running = false
    }
  }

  #next(): Participant | undefined {
    if (this.#holder) return this.#holder.ready ? this.#holder : undefined
    return this.#waiting.shift()
  }

  #hold(participant: Participant | null): void {
    this.#holder = participant
    if (participant && this.#idleTimer) {
      this.#idleTimer.refresh()
    } else if (participant) {
      this.#idleTimer = setTimeout(() => this.#holder?.evict(), this.#idleLimitMs)
    } else if (this.#idleTimer) {
      clearTimeout(this.#idleTimer)
      this.#idleTimer = null
    }
  }
}

export function once(run: () => void): Participant {
  let ready = true
  return {
    get ready() {
      return ready
    },
    takeTurn() {
      ready = false
      run()
      return false
    },
    evict() {},
  }
}
