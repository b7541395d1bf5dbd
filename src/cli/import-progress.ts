import type { Import } from '../db/imports.js'

/** How far an import has come, on one line of a terminal that is written over; elsewhere nothing. */
export interface ImportProgress {
  /** Read from the file. */
  addBytes(bytes: number): void
  show(sofar: Import): void
  /** Takes the line away again. */
  end(): void
}

const WIDTH = 30
const EVERY_MS = 100

/** `size`: of the file; null when nobody knows it, as of a pipe. */
export function showImportProgress(size: number | null): ImportProgress {
  if (!process.stderr.isTTY) return { addBytes: () => undefined, show: () => undefined, end: () => undefined }
  let [bytes, shownAt] = [0, 0]
  return {
    addBytes(more) {
      bytes += more
    },
    show({ rowsRead, refused }) {
      if (performance.now() - shownAt < EVERY_MS) return
      shownAt = performance.now()
      const counts = `${rowsRead} rows${refused > 0 ? `, ${refused} refused` : ''}`
      const done = size === null || size === 0 ? null : Math.min(bytes / size, 1)
      const bar =
        done === null
          ? ''
          : `[${'#'.repeat(Math.round(done * WIDTH)).padEnd(WIDTH, '.')}] ${Math.floor(done * 100)} %  `
      process.stderr.write(`\r\x1b[K${bar}${counts}`)
    },
    end: () => void process.stderr.write('\r\x1b[K'),
  }
}
