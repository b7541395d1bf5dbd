/** How many actions were settled per millisecond lately. */
export interface PaceMeter {
  count(): void
  perMs(): number
}

const WINDOW_MS = 500

export function createPaceMeter(): PaceMeter {
  let since = performance.now()
  let settled = 0
  let rate = 0
  return {
    count: () => void settled++,
    perMs() {
      const elapsed = performance.now() - since
      if (elapsed >= WINDOW_MS) {
        rate = settled / elapsed
        since = performance.now()
        settled = 0
      }
      return rate
    },
  }
}
