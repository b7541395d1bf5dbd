const [CR, LF] = [13, 10]

/** Of a command, its CR LF included: RFC 5321 asks for 512, RFC 4954 for 12288 because tokens are long. */
export const MAX_LINE_BYTES = 12_288

/**
 * Reads commands. Only CR LF ends one. A bare LF could be the seam of an injected command, so the whole line around it
 * is refused; it is refused at once, so that a person typing into netcat is told instead of left waiting.
 */
export class LineReader {
  /** The line that was read, without its CR LF; null when there was none to obey. */
  line: string | null = null
  /** What there is to say against it; null also while the rest of a refused line goes by. */
  problem: 'lineTooLong' | 'bareLf' | null = null

  #kept: Buffer | null = null
  #lastWasCr = false
  #skipping = false

  /** Reads on from `start`; the index after what it dealt with, see `line` and `problem`, or -1 for: more is needed. */
  read(chunk: Buffer, start: number): number {
    this.line = null
    this.problem = null
    const lf = chunk.indexOf(LF, start)
    if (lf === -1) return this.#keep(chunk.subarray(start)) ? -1 : chunk.length
    const whole = lf > start ? chunk[lf - 1] === CR : this.#lastWasCr
    const head = this.#kept
    this.#kept = null
    this.#lastWasCr = false
    if (this.#skipping) this.#skipping = !whole
    else if (!whole) this.#refuse('bareLf')
    else if ((head?.length ?? 0) + lf + 1 - start > MAX_LINE_BYTES) this.problem = 'lineTooLong'
    else if (head === null) this.line = chunk.toString('utf8', start, lf - 1)
    else {
      const line = Buffer.concat([head, chunk.subarray(start, lf)])
      this.line = line.toString('utf8', 0, line.length - 1)
    }
    return lf + 1
  }

  /** False when the line has become too long to go on with. */
  #keep(piece: Buffer): boolean {
    this.#lastWasCr = piece[piece.length - 1] === CR
    if (this.#skipping) return true
    this.#kept = this.#kept ? Buffer.concat([this.#kept, piece]) : piece
    if (this.#kept.length < MAX_LINE_BYTES) return true
    this.#kept = null
    this.#refuse('lineTooLong')
    return false
  }

  #refuse(problem: 'lineTooLong' | 'bareLf'): void {
    this.problem = problem
    this.#skipping = true
  }
}
