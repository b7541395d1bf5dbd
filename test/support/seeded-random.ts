/** Chance that can be had again: the same seed, the same numbers. */
export interface SeededRandom {
  readonly seed: number
  /** From 0 up to, not including, 1. */
  next(): number
  between(least: number, most: number): number
  pick<T>(from: readonly T[]): T
}

/** Mulberry32: small, and even enough to choose victims and moments. */
export function seededRandom(seed: number): SeededRandom {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  return {
    seed,
    next,
    between: (least, most) => least + next() * (most - least),
    pick: (from) => from[Math.floor(next() * from.length)]!,
  }
}

export function shuffle<T>(all: readonly T[], random: SeededRandom): T[] {
  return all
    .map((one) => ({ one, at: random.next() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ one }) => one)
}

/** A new seed for every run, said aloud so that a failure can be had again with `TEST_SEED=…`. */
export function announcedRandom(what: string): SeededRandom {
  const given = process.env['TEST_SEED']
  const seed = given ? Number(given) : Math.floor(Math.random() * 2 ** 32)
  process.stdout.write(`${what}: TEST_SEED=${seed}\n`)
  return seededRandom(seed)
}
