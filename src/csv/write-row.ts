/**
 * Spreadsheets take a cell that begins like this for a formula and may carry it out, whoever wrote it. An apostrophe
 * makes it text. One more apostrophe where there are some already, so that reading it back gives what was written.
 */
const FORMULA = /^'*[=+\-@\t\r]/

/** RFC 4180, with the line break it names. */
export const writeRow = (cells: readonly string[]): string => `${cells.map(writeCell).join(',')}\r\n`

function writeCell(text: string): string {
  const safe = FORMULA.test(text) ? `'${text}` : text
  return /[",;\r\n\t]|^\s|\s$/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/** Takes back what `writeRow` added. */
export const readCell = (text: string): string => (/^'+[=+\-@\t\r]/.test(text) ? text.slice(1) : text)
