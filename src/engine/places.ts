import type { LeasedAction } from '../domain/action.js'
import { BULK_LANE } from '../domain/lane.js'
import type { Handlers } from './handler.js'

/**
 * The places of one worker: what it holds until its time comes, what it holds and has not begun, in the order of ranks, and
 * what is under way. Decides how much more to take, and whose turn a free place is.
 */
export interface Places {
  readonly underWay: number
  /** How much more to take; negative when too much is held. */
  room(): number
  /** Too little room to be worth a claim. */
  isFull(): boolean
  /** How many more to take ahead of their time. They take no room from what is due. */
  roomAhead(): number
  isFullAhead(): boolean
  /** How many more single emails to take although bulk has left no room. */
  urgentRoom(): number
  /**
   * Puts actions of one lease, claimed just now, where they belong and begins what has a place. `over` hears when each is
   * settled.
   */
  accept(actions: readonly LeasedAction[], lost: AbortSignal, over?: ReadonlyMap<string, () => void>): void
  /** Begins at once, beside what has places. */
  begin(action: LeasedAction, lost: AbortSignal): Promise<void>
  nextFinish(): Promise<void>
  allFinished(): Promise<void>
  /** Begins nothing more. */
  close(): void
  /** Hands out what was not begun. */
  empty(): Held[]
}

export interface Held {
  readonly action: LeasedAction
  readonly lost: AbortSignal
  readonly over?: () => void
}

/** One whose time has not come, and when it will have by this process's clock. */
interface Early extends Held {
  readonly at: number
}

export interface PlacesOptions {
  readonly concurrency: number
  readonly handlers: Handlers
  readonly perform: (action: LeasedAction, lost: AbortSignal) => Promise<void>
  /** How many actions were settled per millisecond lately. */
  readonly pace: () => number
  /** There is room for more. */
  readonly onRoom: () => void
}

/** A claim's size: large enough to share its commit among many, small enough that a round of all lanes is short. */
export const LARGEST_CLAIM = 1_000
/** How much work ahead to hold, in time. More would keep it from other workers and make a pause or a single email wait. */
const AHEAD_MS = 100
/** One place in so many is kept free of bulk: a single email must not wait until a campaign's conversations are over. */
const RESERVED_SHARE = 10

export function createPlaces({ concurrency, handlers, perform, pace, onRoom }: PlacesOptions): Places {
  const queue: Held[] = []
  /** The next one last. */
  let early: Early[] = []
  let alarm: NodeJS.Timeout | undefined
  const reserved = concurrency > 1 ? Math.ceil(concurrency / RESERVED_SHARE) : 0
  let underWay = 0
  let bulkUnderWay = 0
  let waitingForFinish: (() => void)[] = []
  let roomAnnounced = false
  let closed = false

  const ahead = () => Math.min(LARGEST_CLAIM, Math.max(concurrency, Math.ceil(pace() * AHEAD_MS)))
  const room = () => concurrency + ahead() - queue.length - underWay
  const isFull = () => room() < ahead() / 2
  const roomAhead = () => ahead() - early.length

  /** Effects are short and need no place on a wire: they go before the hand-overs of their lane, and a batch is no bulk. */
  const rankOf = ({ type, priority }: LeasedAction) => priority - (handlers[type]?.kind === 'effect' ? 0.5 : 0)
  const isBulk = (action: LeasedAction) => rankOf(action) >= BULK_LANE.priority

  const fill = () => {
    while (!closed && underWay < concurrency && queue.length > 0) {
      // The queue is in the order of ranks: behind the first bulk there is nothing else.
      const bulk = isBulk(queue[0]!.action)
      if (bulk && bulkUnderWay >= concurrency - reserved) return
      const { action, lost, over } = queue.shift()!
      // A lease lost while it waited here: somebody else has it by now.
      if (lost.aborted) {
        over?.()
        continue
      }
      underWay++
      if (bulk) bulkUnderWay++
      void perform(action, lost).then(() => {
        if (bulk) bulkUnderWay--
        over?.()
        finish()
      })
    }
  }

  const finish = () => {
    underWay--
    fill()
    const waiting = waitingForFinish
    waitingForFinish = []
    for (const resolve of waiting) resolve()
    announceRoom()
  }

  /** A group settles together; whoever claims hears of it once. */
  const announceRoom = () => {
    if (roomAnnounced || isFull()) return
    roomAnnounced = true
    setImmediate(() => {
      roomAnnounced = false
      onRoom()
    })
  }

  const enqueue = (held: readonly Held[]) => {
    queue.push(...held)
    // Stable, so that what was due first goes first among equals.
    queue.sort((a, b) => rankOf(a.action) - rankOf(b.action))
    fill()
  }

  const hold = (held: readonly Early[]) => {
    early = [...early, ...held].toSorted((a, b) => b.at - a.at)
    setAlarm()
  }

  const setAlarm = () => {
    clearTimeout(alarm)
    const next = early.at(-1)
    // Never before its time: a timer may come a fraction of a millisecond early.
    if (next && !closed) alarm = setTimeout(beginDue, Math.ceil(next.at - performance.now()))
  }

  const beginDue = () => {
    const now = performance.now()
    const due: Held[] = []
    while (early.length > 0 && early.at(-1)!.at <= now) due.push(early.pop()!)
    if (due.length > 0) enqueue(due)
    setAlarm()
  }

  const nextFinish = () => new Promise<void>((resolve) => waitingForFinish.push(resolve))

  return {
    get underWay() {
      return underWay
    },
    room,
    isFull,
    roomAhead,
    isFullAhead: () => roomAhead() < ahead() / 2,
    urgentRoom: () => concurrency - (underWay - bulkUnderWay) - queue.filter(({ action }) => !isBulk(action)).length,
    accept(actions, lost, over) {
      const now = performance.now()
      const held = actions.map((action) => {
        const told = over?.get(action.id)
        return { action, lost, at: now - action.lagMs, ...(told && { over: told }) }
      })
      hold(held.filter(({ at }) => at > now))
      enqueue(held.filter(({ at }) => at <= now))
    },
    async begin(action, lost) {
      underWay++
      await perform(action, lost)
      finish()
    },
    nextFinish,
    async allFinished() {
      while (underWay > 0) await nextFinish()
    },
    close() {
      closed = true
      clearTimeout(alarm)
    },
    empty: () => [...queue.splice(0), ...early.splice(0)],
  }
}
