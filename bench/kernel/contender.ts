/** A queue under measurement: what all of them can do, in the words of none of them. */
export interface Contender {
  /** Writes one job per id. When it resolves they are as durable as the contender makes them. */
  schedule(ids: readonly number[]): Promise<void>
  /** Begins to work. `onStart` is called with a job's id as the first thing its handler does. */
  start(onStart: (id: number) => void): Promise<void>
  /** Asked once every job has begun: true when nothing is under way or waiting to be written down any more. */
  isIdle(): Promise<boolean>
  stop(): Promise<void>
  /** Asked after the stop, of the store itself. */
  tally(): Promise<Tally>
}

export interface Tally {
  /** Jobs the store remembers as done; null when it forgets them by design. */
  readonly done: number | null
  /** Jobs in any other state. */
  readonly unfinished: number
}

/** What a contender finds prepared: an empty database, a Redis, an empty directory. */
export interface Ground {
  readonly databaseUrl: string
  readonly redisUrl: string
  readonly directory: string
  /** Where Postrider was compiled to. */
  readonly postriderUrl: string
}

export type OpenContender = (ground: Ground, settings: readonly number[]) => Promise<Contender>
