/**
 * Long work in one thread, cut into slices: whoever does it asks between two steps whether a slice is over, and rests then,
 * so that everything else in this process has its turn.
 */
export interface Slices {
  isOver(): boolean
  /** Throws when nobody wants the work any more. */
  rest(): Promise<void>
}

const SLICE_MS = 12

export function createSlices(isWanted: () => boolean = () => true): Slices {
  let began = performance.now()
  return {
    isOver: () => performance.now() - began > SLICE_MS,
    async rest() {
      await new Promise((resolve) => setImmediate(resolve))
      if (!isWanted()) throw new Error('Nobody waits for this any more.')
      began = performance.now()
    },
  }
}
