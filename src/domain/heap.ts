/** Keeps what comes first in front, however it was put in: a queue by time, or the first so many of a long stream. */
export interface Heap<Item> {
  readonly size: number
  push(item: Item): void
  peek(): Item | undefined
  pop(): Item | undefined
  /** In no particular order. */
  values(): readonly Item[]
}

export function createHeap<Item>(comesBefore: (one: Item, other: Item) => boolean): Heap<Item> {
  const items: Item[] = []
  const rise = (item: Item) => {
    let place = items.length
    items.push(item)
    while (place > 0) {
      const parent = (place - 1) >>> 1
      if (!comesBefore(item, items[parent]!)) break
      items[place] = items[parent]!
      place = parent
    }
    items[place] = item
  }
  /** Puts an item where the first was, and lets it sink to its place. */
  const sink = (item: Item) => {
    let place = 0
    for (let child = 1; child < items.length; child = 2 * place + 1) {
      if (child + 1 < items.length && comesBefore(items[child + 1]!, items[child]!)) child++
      if (!comesBefore(items[child]!, item)) break
      items[place] = items[child]!
      place = child
    }
    items[place] = item
  }
  return {
    get size() {
      return items.length
    },
    push: rise,
    peek: () => items[0],
    pop() {
      const first = items[0]
      const last = items.pop()
      if (items.length > 0) sink(last!)
      return first
    },
    values: () => items,
  }
}

/** What comes when; of the same time, what was put in first comes first. */
export interface TimeQueue<Item> {
  push(at: number, item: Item): void
  /** When the first comes; null when nothing does. */
  nextAt(): number | null
  pop(): Item | undefined
}

/**
 * A heap with the times beside the items: of a hundred thousand that wait, each would otherwise be fetched from where it
 * lies in memory only to be asked for its time.
 */
export function createTimeQueue<Item>(): TimeQueue<Item> {
  const times: number[] = []
  const orders: number[] = []
  const items: Item[] = []
  let pushed = 0
  const put = (place: number, at: number, order: number, item: Item) => {
    times[place] = at
    orders[place] = order
    items[place] = item
  }
  const pull = (place: number, from: number) => put(place, times[from]!, orders[from]!, items[from]!)
  const comesBefore = (place: number, at: number, order: number) =>
    times[place]! < at || (times[place] === at && orders[place]! < order)
  return {
    push(at, item) {
      const order = pushed++
      let place = items.length
      for (let parent; place > 0 && at < times[(parent = (place - 1) >>> 1)]!; place = parent) pull(place, parent)
      put(place, at, order, item)
    },
    nextAt: () => times[0] ?? null,
    pop() {
      const first = items[0]
      const [at, order, item] = [times.pop()!, orders.pop()!, items.pop()!]
      const size = items.length
      if (size === 0) return first
      let place = 0
      for (let child = 1; child < size; child = 2 * place + 1) {
        if (child + 1 < size && comesBefore(child + 1, times[child]!, orders[child]!)) child++
        if (!comesBefore(child, at, order)) break
        pull(place, child)
        place = child
      }
      put(place, at, order, item)
      return first
    },
  }
}
