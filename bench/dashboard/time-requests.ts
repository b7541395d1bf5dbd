import { readStolenMs } from '../support/machine.js'
import { median } from '../support/statistics.js'

/** How long one kind of request took, every time it was made. */
export interface Timed {
  readonly name: string
  readonly times: number
  readonly middleMs: number
  readonly worstMs: number
  /**
   * Of those during which the host took nothing from this machine; null when it did every time. Chosen by what the kernel
   * counted, and never by how long they took.
   */
  readonly worstUndisturbedMs: number | null
}

export interface Stopwatch {
  time<T>(request: () => Promise<T>): Promise<T>
  /** Whether it was seen at least once while the host took nothing. */
  readonly wasUndisturbed: boolean
  read(): Timed
}

export function createStopwatch(name: string): Stopwatch {
  const all: number[] = []
  const undisturbed: number[] = []
  return {
    async time(request) {
      const stolenBefore = readStolenMs()
      const from = performance.now()
      const answer = await request()
      const tookMs = performance.now() - from
      all.push(tookMs)
      if (readStolenMs() === stolenBefore) undisturbed.push(tookMs)
      return answer
    },
    get wasUndisturbed() {
      return undisturbed.length > 0
    },
    read: () => ({
      name,
      times: all.length,
      middleMs: median(all),
      worstMs: Math.max(...all),
      worstUndisturbedMs: undisturbed.length > 0 ? Math.max(...undisturbed) : null,
    }),
  }
}
