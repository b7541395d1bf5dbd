/** A page of a list, newest first, and where the next one begins; null: there is no more. */
export interface ReadPage<Row> {
  readonly rows: readonly Row[]
  readonly end: string | null
}

interface Stretch<Row> extends ReadPage<Row> {
  /** Where it begins: behind this id. */
  readonly after: string | null
}

export interface ShownPages<Row> {
  readonly rows: readonly Row[]
  readonly isReady: boolean
  readonly hasMore: boolean
  readonly isLoading: boolean
  /** Newer ones have come, which are not shown because somebody looks at those further down. */
  readonly hasNewer: boolean
  /** How often somebody asked for the newest: who did is taken to the top. */
  readonly restarts: number
  /** Why the next ones could not be read. */
  readonly error: unknown
}

/**
 * A list, newest first, as far as somebody has scrolled, and kept up to date where they look: of one that is a thousand
 * pages long, reading all again with every event would be a load that shows nobody anything.
 *
 * Ids grow with time, so a stretch between two of them never gains a row: only the top does. New ones come in there by
 * themselves; to those who have scrolled down they are announced, so that what they look at stays where it is.
 */
export class LivePages<Row extends { readonly id: string }> {
  readonly #read: (after: string | null) => Promise<ReadPage<Row>>
  readonly #listeners = new Set<() => void>()
  readonly #expected = new Map<string, Partial<Row>>()
  #stretches: readonly Stretch<Row>[] = []
  #seen: readonly [number, number] = [0, 0]
  #shown: ShownPages<Row> = {
    rows: [],
    isReady: false,
    hasMore: false,
    isLoading: true,
    hasNewer: false,
    restarts: 0,
    error: null,
  }
  /** One thing at a time: what was read first must not overwrite what was read later. */
  #last: Promise<unknown> = Promise.resolve()

  constructor(read: (after: string | null) => Promise<ReadPage<Row>>) {
    this.#read = read
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }
  readonly shown = (): ShownPages<Row> => this.#shown
  /** Which rows are in sight. */
  readonly see = (first: number, last: number): void => void (this.#seen = [first, last])

  readonly loadMore = (): void => {
    const { isLoading, hasMore } = this.#shown
    if (isLoading || !hasMore) return
    this.#show({ isLoading: true, error: null })
    void this.#next(async () => {
      const end = this.#stretches.at(-1)?.end ?? null
      if (end !== null) this.#stretches = [...this.#stretches, await this.#stretchFrom(end)]
      this.#show({ isLoading: false })
    }).catch((error: unknown) => this.#show({ isLoading: false, error }))
  }

  /** Reads again what is in sight, and looks whether there is anything newer. */
  readonly refresh = (): Promise<void> =>
    this.#next(async () => {
      const head = await this.#stretchFrom(null)
      if (this.#seen[0] === 0 || this.#stretches.length === 0) return this.#start(head)
      const changed = [...this.#stretches]
      const read = new Set<number>()
      // Where rows have gone, others came into sight: until all that is in sight was read.
      for (let i = this.#unreadInSight(changed, read); i !== null; i = this.#unreadInSight(changed, read)) {
        const after = i === 0 ? await this.#beginOfFirst(head) : changed[i]!.after
        changed[i] = this.#joined(i, after === null ? head : await this.#stretchFrom(after))
        read.add(i)
      }
      const first = this.#stretches[0]!.rows[0]?.id
      const newest = head.rows[0]?.id
      this.#stretches = changed
      this.#show({ hasNewer: newest !== undefined && (first === undefined || newest > first) })
    })

  /** From the newest one on. */
  readonly restart = (): Promise<void> =>
    this.#next(async () => {
      this.#seen = [0, 0]
      this.#start(await this.#stretchFrom(null))
      this.#show({ restarts: this.#shown.restarts + 1 })
    })

  /** Shows at once what something should lead to; `forget` when it is known what it did. */
  expect(ids: Iterable<string>, change: Partial<Row>): void {
    for (const id of ids) this.#expected.set(id, change)
    this.#show({})
  }
  forget(): void {
    this.#expected.clear()
    this.#show({})
  }

  #start(head: Stretch<Row>): void {
    const [known, ...others] = this.#stretches
    // What is further down stays where it still joins on.
    this.#stretches = known !== undefined && head.end !== null && head.end === known.end ? [head, ...others] : [head]
    this.#show({ isReady: true, isLoading: false, hasNewer: false, error: null })
  }

  /**
   * Behind which id the first stretch begins: behind the oldest of what has come above it, or null while nothing has.
   * Read from the top, it would have lost its last rows to the new ones, and those would never be looked at again.
   */
  async #beginOfFirst(head: Stretch<Row>): Promise<string | null> {
    const { after, rows } = this.#stretches[0]!
    const first = rows[0]?.id
    if (after !== null || first === undefined) return after
    let above: string | null = null
    for (let page = head; ; page = await this.#stretchFrom(page.end)) {
      const newer = page.rows.filter(({ id }) => id > first)
      above = newer.at(-1)?.id ?? above
      if (newer.length < page.rows.length || page.end === null) return above
    }
  }

  /** Those that do not belong here any more have made room for some of the next stretch. */
  #joined(i: number, found: Stretch<Row>): Stretch<Row> {
    const end = this.#stretches[i + 1]?.after
    return end == null ? found : { ...found, end, rows: found.rows.filter(({ id }) => id >= end) }
  }

  readonly #stretchFrom = async (after: string | null): Promise<Stretch<Row>> => ({
    after,
    ...(await this.#read(after)),
  })

  #unreadInSight(stretches: readonly Stretch<Row>[], read: ReadonlySet<number>): number | null {
    const [first, last] = this.#seen
    let begin = 0
    for (const [i, { rows }] of stretches.entries()) {
      if (begin <= last && begin + rows.length > first && !read.has(i)) return i
      begin += rows.length
    }
    return null
  }

  #next<T>(task: () => Promise<T>): Promise<T> {
    const result = this.#last.then(task)
    this.#last = result.catch(() => undefined)
    return result
  }

  #show(change: Partial<ShownPages<Row>>): void {
    const all = this.#stretches.flatMap(({ rows }) => rows)
    const rows = this.#expected.size === 0 ? all : all.map((row) => ({ ...row, ...this.#expected.get(row.id) }))
    this.#shown = { ...this.#shown, ...change, rows, hasMore: (this.#stretches.at(-1)?.end ?? null) !== null }
    for (const listener of this.#listeners) listener()
  }
}
