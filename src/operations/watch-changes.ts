import {
  type Change,
  CHANGE_KINDS,
  type ChangeKind,
  type Horizon,
  MOST_CHANGES,
  readChanges,
  readHorizon,
} from '../db/read-changes.js'
import type { Context } from './context.js'

/**
 * Tells those who look on what has happened, a few times a second at the most, however much it was. One reader for each
 * workspace somebody looks at, and none when nobody does.
 */
export interface News {
  /** What was told up to here, to go on from. */
  readonly cursor: string
  readonly groups: readonly NewsGroup[]
}

export interface NewsGroup {
  readonly kind: ChangeKind
  readonly count: number
  /** There were more than were counted. */
  readonly more: boolean
  /** Some of them, newest first. */
  readonly samples: readonly Change[]
}

export interface Spectator {
  /** `again`: too much has happened since to be told; what they show is to be read anew, and goes on from here. */
  tell(news: News, again?: true): void
  /** Nothing more will be told. */
  end(): void
}

export interface Watcher {
  /**
   * Tells what happened since a cursor, and then what happens; what it returns ends that. Null when too many look on
   * already.
   */
  watch(workspaceId: string, after: string | null, spectator: Spectator): Promise<(() => void) | null>
  close(): void
}

export interface WatchOptions {
  readonly tickMs?: number
  readonly mostSpectators?: number
}

const TICK_MS = 500
/** Reading takes no more than this part of the time, however much there is to read. */
const SHARE = 0.1
const LONGEST_TICK_MS = 5_000
const LONGEST_REPLAY_MS = 900_000
const SAMPLES = 20
const MOST_SPECTATORS = 500

export function createWatcher(
  { db, log }: Pick<Context, 'db' | 'log'>,
  { tickMs = TICK_MS, mostSpectators = MOST_SPECTATORS }: WatchOptions = {},
): Watcher {
  const readers = new Map<string, Reader>()
  let closed = false

  const readerOf = (workspaceId: string, since: Date): Reader => {
    const known = readers.get(workspaceId)
    if (known) return known
    const reader = new Reader({
      tickMs,
      since,
      readHorizon: () => readHorizon(db),
      readChanges: (from) => readChanges(db, workspaceId, from),
      complain: (error) => log.warn({ err: error }, 'what happened cannot be read'),
    })
    readers.set(workspaceId, reader)
    return reader
  }

  return {
    async watch(workspaceId, after, spectator) {
      const watching = [...readers.values()].reduce((sum, { spectators }) => sum + spectators.size, 0)
      if (watching >= mostSpectators) return null
      const at = await readHorizon(db)
      // Here before it is told what it missed, or what happens in between would be told to the others only.
      const patient = new PatientSpectator(spectator)
      const reader = readerOf(workspaceId, at.horizon)
      reader.spectators.add(patient)
      const leave = () => {
        reader.spectators.delete(patient)
        if (reader.spectators.size > 0) return
        reader.stop()
        if (readers.get(workspaceId) === reader) readers.delete(workspaceId)
      }
      try {
        const from = after === null ? null : readCursor(after, at)
        if (after === null) spectator.tell(toNews([], at))
        else if (from === null) spectator.tell(toNews([], at), true)
        else spectator.tell(toNews(await readChanges(db, workspaceId, from), at))
      } catch (error) {
        leave()
        throw error
      }
      patient.begin()
      if (closed) spectator.end()
      return leave
    },
    close() {
      closed = true
      for (const reader of readers.values()) {
        reader.stop()
        for (const spectator of reader.spectators) spectator.end()
      }
      readers.clear()
    },
  }
}

/** Keeps what it hears until what came before has been told. */
class PatientSpectator implements Spectator {
  readonly #spectator: Spectator
  #waiting: News[] | null = []

  constructor(spectator: Spectator) {
    this.#spectator = spectator
  }

  tell(news: News): void {
    if (this.#waiting) this.#waiting.push(news)
    else this.#spectator.tell(news)
  }

  begin(): void {
    for (const news of this.#waiting ?? []) this.#spectator.tell(news)
    this.#waiting = null
  }

  end(): void {
    this.#spectator.end()
  }
}

interface ReaderOptions {
  readonly tickMs: number
  readonly since: Date
  readHorizon(): Promise<Horizon>
  readChanges(since: Date): Promise<Change[]>
  complain(error: unknown): void
}

class Reader {
  readonly spectators = new Set<Spectator>()
  readonly #options: ReaderOptions
  /** What may be read again and was told. */
  #told = new Set<string>()
  #since: Date
  #timer: NodeJS.Timeout | undefined
  #stopped = false

  constructor(options: ReaderOptions) {
    this.#options = options
    this.#since = options.since
    this.#wait(options.tickMs)
  }

  stop(): void {
    this.#stopped = true
    clearTimeout(this.#timer)
  }

  #wait(ms: number): void {
    if (!this.#stopped) this.#timer = setTimeout(() => void this.#tick(), ms).unref()
  }

  async #tick(): Promise<void> {
    const started = performance.now()
    try {
      // Before the changes: whatever is over by now is among them.
      const at = await this.#options.readHorizon()
      const found = await this.#options.readChanges(this.#since)
      if (this.#stopped) return
      const fresh = found.filter((change) => !this.#told.has(keyOf(change)))
      // What is not found any more lies before the horizon, and is not read again.
      this.#told = new Set(found.map(keyOf))
      this.#since = at.horizon
      if (fresh.length > 0) for (const one of this.spectators) one.tell(toNews(fresh, at))
    } catch (error) {
      // The database is away for a moment: what happened meanwhile is read when it is back.
      this.#options.complain(error)
    }
    const took = performance.now() - started
    this.#wait(Math.min(LONGEST_TICK_MS, Math.max(this.#options.tickMs, took / SHARE)))
  }
}

const keyOf = ({ kind, key }: Change) => `${kind} ${key}`

/** Null for one that leads nowhere: of another system, of the future, or too long ago. */
function readCursor(text: string, { now }: Horizon): Date | null {
  const at = new Date(text)
  const age = now.getTime() - at.getTime()
  return Number.isNaN(age) || age > LONGEST_REPLAY_MS || age < 0 ? null : at
}

function toNews(found: readonly Change[], { horizon }: Horizon): News {
  const kinds = CHANGE_KINDS.map((kind) => ({ kind, all: found.filter((one) => one.kind === kind) }))
  return {
    cursor: horizon.toISOString(),
    groups: kinds
      .filter(({ all }) => all.length > 0)
      .map(({ kind, all }) => ({
        kind,
        count: all.length,
        more: all.length >= MOST_CHANGES,
        samples: all.slice(0, SAMPLES),
      })),
  }
}
