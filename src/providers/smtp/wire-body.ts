/**
 * A message's bytes as DATA carries them. Every line ends in CRLF and nothing but CRLF ends a line, because receivers
 * disagree about a lone CR or LF: one that takes "\n.\n" for the end of the message would read the rest of the body as
 * commands, and send what an author has smuggled into it in our name.
 */
const LF = 0x0a
const CR = 0x0d
const DOT = 0x2e
const TERMINATOR = Buffer.from('.\r\n')

/** Turns lone CRs and LFs into CRLF and ends the last line. The same buffer comes back when there is nothing to do. */
export function normalizeLineBreaks(bytes: Buffer): Buffer {
  const length = bytes.length
  let lone = 0
  for (let i = 0, previous = 0; i < length; i++) {
    const byte = bytes[i]!
    if (byte === LF) {
      if (previous !== CR) lone++
    } else if (previous === CR) lone++
    previous = byte
  }
  const endsInBreak = length >= 2 && bytes[length - 1] === LF && bytes[length - 2] === CR
  if (lone === 0 && endsInBreak) return bytes
  const normalized = Buffer.allocUnsafe(length + lone + 2)
  let at = 0
  for (let i = 0; i < length; i++) {
    const byte = bytes[i]!
    if (byte !== CR && byte !== LF) {
      normalized[at++] = byte
      continue
    }
    if (byte === CR && bytes[i + 1] === LF) i++
    normalized[at++] = CR
    normalized[at++] = LF
  }
  if (at === 0 || normalized[at - 1] !== LF) {
    normalized[at++] = CR
    normalized[at++] = LF
  }
  return normalized.subarray(0, at)
}

/** Doubles the dot at the start of a line and appends the final one. Takes what normalizeLineBreaks gives. */
export function stuffDots(normalized: Buffer): Buffer {
  const pieces: Buffer[] = []
  let from = 0
  if (normalized[0] === DOT) pieces.push(normalized.subarray(0, 1))
  for (let at = normalized.indexOf('\n.', 0, 'latin1'); at !== -1; at = normalized.indexOf('\n.', at + 2, 'latin1')) {
    pieces.push(normalized.subarray(from, at + 2))
    from = at + 1
  }
  pieces.push(from === 0 ? normalized : normalized.subarray(from), TERMINATOR)
  return Buffer.concat(pieces)
}
