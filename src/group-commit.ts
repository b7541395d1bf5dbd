export interface GroupLimits<Item> {
  readonly maxItems: number
  readonly maxFlushes: number
  /**
   * How long after one flush began the next may begin, unless many wait; 0 unless given. What comes in a stream, a few at
   * a time, then shares a commit instead of paying for one each.
   */
  readonly restMs?: number
  /** How many an item counts for; 1 unless given. One that is larger than the limit goes alone. */
  readonly weigh?: (item: Item) => number
}

/** So many share a commit well enough. Resting for more would only keep a busy worker, or one that catches up, waiting. */
const MANY = 100

/**
 * Lets many callers share one write. While a flush is under way the next one gathers; whoever asks in the same turn of
 * the event loop goes together. A lone caller waits for nobody, a thousand share one commit.
 */
export function groupCommit<Item, Result>(
  flush: (items: Item[]) => Promise<Result[]>,
  { maxItems, maxFlushes, restMs = 0, weigh }: GroupLimits<Item>,
): (item: Item) => Promise<Result> {
  interface Waiting {
    readonly item: Item
    readonly resolve: (result: Result) => void
    readonly reject: (error: unknown) => void
  }
  let waiting: Waiting[] = []
  let flushing = 0
  let scheduled = false
  let resting: NodeJS.Timeout | undefined
  let restedAt = 0
  const many = Math.min(MANY, maxItems)

  const begin = () => {
    scheduled = false
    resting = undefined
    void next()
  }

  const schedule = () => {
    if (resting && waiting.length >= many) {
      clearTimeout(resting)
      resting = undefined
      setImmediate(begin)
    }
    if (scheduled || flushing >= maxFlushes || waiting.length === 0) return
    scheduled = true
    const leftMs = restedAt - performance.now()
    if (leftMs > 0 && waiting.length < many) resting = setTimeout(begin, leftMs)
    else setImmediate(begin)
  }

  const next = async () => {
    if (flushing >= maxFlushes || waiting.length === 0) return
    const count = weigh ? countFitting(waiting, maxItems, weigh) : maxItems
    const group = waiting.slice(0, count)
    waiting = waiting.slice(count)
    flushing++
    restedAt = performance.now() + restMs
    schedule()
    try {
      const results = await flush(group.map(({ item }) => item))
      group.forEach(({ resolve }, i) => resolve(results[i]!))
    } catch (error) {
      group.forEach(({ reject }) => reject(error))
    } finally {
      flushing--
      schedule()
    }
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject })
      schedule()
    })
}

function countFitting<Item>(waiting: readonly { readonly item: Item }[], limit: number, weigh: (item: Item) => number) {
  let weight = 0
  let count = 0
  for (const { item } of waiting) {
    weight += weigh(item)
    if (weight > limit && count > 0) break
    count++
  }
  return count
}
