/**
 * Who wakes workers. A broker carries hints: the id of an action worth looking at, and its key. Losing, repeating or
 * delaying one changes nothing but latency: the database decides, and a sweep finds what was lost. So a broker need not
 * be durable, and nothing here waits for one that is away.
 */
export interface Broker {
  readonly name: BrokerName
  /** False when the database itself is the broker: there is nothing to publish, workers look for themselves. */
  readonly carries: boolean
  /** How far ahead of its time a hint may be published; 0 when the broker cannot hold one back. */
  readonly horizonMs: number
  /** Whether it can be reached at the moment, as far as is known without asking. */
  isUp(): boolean
  /**
   * Resolves when the broker has confirmed all of them; rejects, after a limited time, when that is not certain of every
   * one. A hint under a job id that is waiting already may be dropped.
   */
  publish(hints: readonly Hint[]): Promise<void>
  /**
   * From now on calls `onMessage` for every message, so many at a time, and acknowledges one when its promise resolves.
   * One that rejects may come again. Goes on by itself after a loss of the connection.
   */
  consume(concurrency: number, onMessage: (message: Message) => Promise<void>): void
  /** Takes no more messages; resolves when those under way are acknowledged. */
  stopConsuming(): Promise<void>
  /** How many messages it holds that were given to nobody yet. */
  countHeld(): Promise<number>
  /**
   * Which of these jobs it has no more, neither waiting nor given out; null when it can only count. Counting is the
   * weaker way: messages that nobody needs any more hide as many that are lost.
   */
  readonly findMissing: ((jobIds: readonly string[]) => Promise<readonly string[]>) | null
  /**
   * At most so many messages are with workers that have not acknowledged them. Asked after `countHeld`, so that one which
   * is given out in between is counted twice rather than missed.
   */
  countGiven(): Promise<number>
  /** Tells people and programs that watch its dead-letter queue; null when it has none. */
  readonly announceFailures: ((failures: readonly FailureEvent[]) => Promise<void>) | null
  close(): Promise<void>
}

export const BROKER_NAMES = ['postgres', 'bullmq', 'rabbitmq'] as const
export type BrokerName = (typeof BROKER_NAMES)[number]

/** All that travels: what more there is to know, the database knows better. */
export interface Message {
  readonly actionId: string
  readonly key: string
}

export interface Hint extends Message {
  readonly jobId: string
  readonly type: string
  /** Who goes first: single emails, then what plans bulk, then bulk. */
  readonly rank: Rank
  readonly delayMs: number
}

export type Rank = 0 | 1 | 2

export interface FailureEvent {
  readonly event: 'action.failed'
  readonly actionId: string
  readonly workspaceId: string
  readonly key: string
  readonly type: string
  readonly attempts: number
  readonly reason: string | null
  readonly failedAt: string
}
