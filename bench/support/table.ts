/** Aligned columns: the first is a name and goes left, the others are figures and go right. */
export function formatTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, ...rows]
  const widths = head.map((_, column) => Math.max(...lines.map((line) => (line[column] ?? '').length)))
  return lines
    .map((line) =>
      widths
        .map((width, column) => (column === 0 ? (line[0] ?? '').padEnd(width) : (line[column] ?? '').padStart(width)))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

export const formatCount = (value: number): string =>
  Number.isFinite(value) ? Math.round(value).toLocaleString('en-US') : '-'

export const formatFigure = (value: number, digits = 1): string =>
  Number.isFinite(value) ? value.toFixed(digits) : '-'

export const formatRatio = (value: number): string => (Number.isFinite(value) ? `${value.toFixed(2)}x` : '-')
