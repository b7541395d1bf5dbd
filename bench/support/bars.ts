import { formatTable } from './table.js'

/** What we want to be true. A miss is shown and never ends the process: a benchmark reports, people decide. */
export interface Bar {
  readonly name: string
  readonly value: string
  readonly pass: boolean
}

export const formatBars = (bars: readonly Bar[]): string =>
  formatTable(
    ['bar', 'found', ''],
    bars.map(({ name, value, pass }) => [name, value, pass ? 'pass' : 'MISS']),
  )
