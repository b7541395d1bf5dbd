/** Grows by doubling: a list of 32-bit integers without boxing. */
export class IntList {
  #items = new Int32Array(1 << 12)
  length = 0

  push(item: number): void {
    if (this.length === this.#items.length) {
      const grown = new Int32Array(this.length * 2)
      grown.set(this.#items)
      this.#items = grown
    }
    this.#items[this.length++] = item
  }

  at(index: number): number {
    return this.#items[index]!
  }
}

/** The states seen, numbered in the order they were found, each with the one it was found from. */
export class StateSet {
  readonly rows = new IntList()
  readonly workers = new IntList()
  readonly parents = new IntList()
  /** Open addressing; 0 is free, otherwise the state's number plus one. */
  #slots = new Int32Array(1 << 14)

  get size(): number {
    return this.rows.length
  }

  /** The number of this state, new or known. */
  add(row: number, workers: number, parent: number): number {
    const known = this.#find(row, workers)
    if (this.#slots[known] !== 0) return this.#slots[known]! - 1
    this.rows.push(row)
    this.workers.push(workers)
    this.parents.push(parent)
    this.#slots[known] = this.size
    if (this.size * 2 > this.#slots.length) this.#grow()
    return this.size - 1
  }

  #find(row: number, workers: number): number {
    const mask = this.#slots.length - 1
    let hash = Math.imul(row ^ Math.imul(workers, 0x9e3779b1), 0x85ebca6b)
    hash ^= hash >>> 15
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const state = this.#slots[slot]! - 1
      if (state < 0 || (this.rows.at(state) === row && this.workers.at(state) === workers)) return slot
    }
  }

  #grow(): void {
    this.#slots = new Int32Array(this.#slots.length * 2)
    for (let state = 0; state < this.size; state++) {
      this.#slots[this.#find(this.rows.at(state), this.workers.at(state))] = state + 1
    }
  }
}
