/** When something that waits falls due, as far as this process knows. */
export interface DueClock {
  inMs(): number
  /** Something falls due in so many milliseconds, which may be earlier than was known. */
  expect(ms?: number): void
  /**
   * Looks when something falls due next, null for never; returns in how many milliseconds. Whoever says meanwhile that
   * something is due earlier is heard: a look that had begun before may not have seen it.
   */
  look(ask: () => Promise<number | null>): Promise<number>
}

/** `pollMs`: how long a look is believed at the most. */
export function createDueClock(pollMs: number): DueClock {
  let dueAt = 0
  const expect = (ms = 0) => {
    dueAt = Math.min(dueAt, performance.now() + ms)
  }
  return {
    inMs: () => dueAt - performance.now(),
    expect,
    async look(ask) {
      dueAt = Number.POSITIVE_INFINITY
      let waitMs = 0
      try {
        waitMs = (await ask()) ?? Number.POSITIVE_INFINITY
      } finally {
        expect(Math.min(waitMs, pollMs))
      }
      return waitMs
    },
  }
}
