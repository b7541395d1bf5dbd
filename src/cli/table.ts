import { cut, oneLine, widthOf } from './safe-text.js'

/** Columns side by side, no wider than the terminal: those that may be cut share what the others leave. */
export interface Column<Row> {
  readonly title: string
  readonly cell: (row: Row) => string
  /** Ids must be copied whole; a subject need not. */
  readonly mayBeCut?: true
}

const GAP = '  '
const NARROWEST = 6

export function formatTable<Row>(rows: readonly Row[], columns: readonly Column<Row>[], width: number): string {
  const cells = rows.map((row) => columns.map(({ cell }) => oneLine(cell(row))))
  const wanted = columns.map(({ title }, i) => Math.max(widthOf(title), ...cells.map((line) => widthOf(line[i]!))))
  const widths = share(wanted, columns, width)
  const format = (line: readonly string[]) =>
    line
      .map((text, i) => pad(cut(text, widths[i]!), widths[i]!))
      .join(GAP)
      .trimEnd()
  return [columns.map(({ title }) => title), ...cells].map((line) => `${format(line)}\n`).join('')
}

/** The widest gives way first, so that short cells stay whole. */
function share(wanted: readonly number[], columns: readonly Column<never>[], width: number): number[] {
  const widths = [...wanted]
  const total = () => widths.reduce((sum, each) => sum + each, GAP.length * (widths.length - 1))
  while (total() > width) {
    const widest = Math.max(...widths.filter((_, i) => columns[i]!.mayBeCut))
    if (widest <= NARROWEST) break
    widths[widths.findIndex((each, i) => columns[i]!.mayBeCut && each === widest)] = widest - 1
  }
  return widths
}

const pad = (text: string, width: number) => text + ' '.repeat(width - widthOf(text))

const USUAL_WIDTH = 80

/** Some terminals say that they have no columns at all. */
export const terminalWidth = (): number => process.stdout.columns || USUAL_WIDTH
