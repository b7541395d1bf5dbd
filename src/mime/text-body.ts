/** RFC 5322 2.1.1, without the CRLF. */
const MAX_LINE = 998

/** Everything else needs an encoding, control characters included. */
const NOT_SEVEN_BIT = /[^\t\r\n\x20-\x7e]/

export interface TextBody {
  readonly encoding: '7bit' | 'quoted-printable' | 'base64'
  /** ASCII, lines of at most 998 characters ended by CRLF. The last line may be open. */
  readonly content: string
}

/** A bare CR or LF is a line break to some servers and none to others, which is how mail is smuggled. */
export function toCrlf(text: string): string {
  // Most texts have no CR at all, and searching for a plain string is several times faster than a pattern.
  return text.includes('\r') ? text.replaceAll(/\r\n?|\n/g, '\r\n') : text.replaceAll('\n', '\r\n')
}

/**
 * Text, its lines ended by CRLF, as it may travel. Plain ASCII stays readable as it is; otherwise the
 * encoding is taken that makes less of it.
 *
 * @param boundary The text must not contain it as it is; both encodings break it up.
 */
export function encodeTextBody(text: string, boundary: string): TextBody {
  if (!NOT_SEVEN_BIT.test(text) && !hasLongLine(text) && !text.includes(boundary))
    return { encoding: '7bit', content: text }
  const bytes = Buffer.from(text)
  return countQuotedPrintable(bytes) <= bytes.length * (4 / 3) * (78 / 76)
    ? { encoding: 'quoted-printable', content: toQuotedPrintable(bytes) }
    : { encoding: 'base64', content: bytes.toString('base64').replaceAll(/.{76}(?!$)/g, '$&\r\n') }
}

function hasLongLine(text: string): boolean {
  for (let start = 0; text.length - start > MAX_LINE;) {
    const end = text.indexOf('\r\n', start)
    if ((end < 0 ? text.length : end) - start > MAX_LINE) return true
    if (end < 0) return false
    start = end + 2
  }
  return false
}

const CR = 0x0d
const LF = 0x0a
const EQUALS = 0x3d
const HEX = Buffer.from('0123456789ABCDEF')

/** Stands for itself wherever it is, except that white space must not end a line. */
const LITERAL = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte === 0x09 || (byte >= 0x20 && byte <= 0x7e && byte !== EQUALS) ? 1 : 0,
)

/** About what the text takes in quoted-printable: good enough to choose by. */
function countQuotedPrintable(bytes: Buffer): number {
  let escaped = 0
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i]!
    if (LITERAL[byte] === 0 && byte !== CR && byte !== LF) escaped++
  }
  return (bytes.length + 2 * escaped) * (78 / 75)
}

/** RFC 2045 6.7. Lines are CRLF already; a CR or LF without the other is data. */
function toQuotedPrintable(bytes: Buffer): string {
  // A byte makes three at most, and at least 73 of those stand before a soft line break of three.
  const out = Buffer.allocUnsafe(Math.ceil(bytes.length * 3 * 1.05) + 16)
  let size = 0
  let column = 0
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i]!
    const next = i + 1 < bytes.length ? bytes[i + 1]! : CR
    if (byte === CR && next === LF) {
      out[size++] = CR
      out[size++] = LF
      i++
      column = 0
      continue
    }
    const literal = LITERAL[byte] === 1 && (byte > 0x20 || (next !== CR && next !== LF))
    const width = literal ? 1 : 3
    if (column + width > 75) {
      out[size++] = EQUALS
      out[size++] = CR
      out[size++] = LF
      column = 0
    }
    column += width
    if (literal) {
      out[size++] = byte
      continue
    }
    out[size++] = EQUALS
    out[size++] = HEX[byte >> 4]!
    out[size++] = HEX[byte & 15]!
  }
  return out.toString('latin1', 0, size)
}
