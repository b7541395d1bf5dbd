/** What the last line of a run says. */
export interface Tally {
  passed: number
  failed: number
  skipped: number
}

/** Where the reporter inside vitest leaves its tally for the runner outside. */
export const tallyFileVariable = 'POSTRIDER_TALLY_FILE'

export function formatTally({ passed, failed, skipped }: Tally): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`
}
