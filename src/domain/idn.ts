/** One character of an internationalised label, as typed: invisible characters look like nothing and are refused. */
const LABEL = /^(?!\p{M})(?:(?!\p{DI})[\p{L}\p{M}\p{Nd}_-])+$/u
const ASCII_LABEL = /^[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?$/

/**
 * A domain as it goes on the wire: lower case, Unicode labels in punycode, or null if it cannot be a host name.
 *
 * The domain folder has no URL parser, and does not want one: `domainToASCII` reads `evil.example/x` as `evil.example`.
 * Compatibility characters are mapped (NFKC, lower case) as UTS 46 maps them; a test compares us with Node's.
 * Underscores pass, because container networks are full of them.
 */
export function domainToAscii(domain: string): string | null {
  const labels: string[] = []
  for (const typed of domain.split(/[.。．｡]/u)) {
    const label = toAsciiLabel(typed)
    if (label === null) return null
    labels.push(label)
  }
  const ascii = labels.join('.')
  // A last label of digits is an IPv4 address without its brackets.
  return ascii.length <= 253 && !/^\d+$/.test(labels.at(-1)!) ? ascii : null
}

function toAsciiLabel(typed: string): string | null {
  // Most labels need none of this.
  if (typed.length <= 63 && ASCII_LABEL.test(typed)) return typed
  if (!LABEL.test(typed)) return null
  // Letter by letter: of a whole word JavaScript writes the last sigma differently, which UTS 46 does not.
  const mapped = Array.from(typed.normalize('NFKC'), (letter) => letter.toLowerCase())
    .join('')
    .normalize('NFC')
  const label = /^[\x21-\x7e]+$/.test(mapped) ? mapped : `xn--${toPunycode(mapped)}`
  return label.length <= 63 && ASCII_LABEL.test(label) ? label : null
}

/** RFC 3492, encoding only. The names are those of the RFC. */
function toPunycode(label: string): string {
  const points = Array.from(label, (character) => character.codePointAt(0)!)
  const basic = points.filter((point) => point < 0x80)
  let output = String.fromCodePoint(...basic)
  if (basic.length > 0) output += '-'
  let n = 0x80
  let delta = 0
  let bias = 72
  let handled = basic.length
  while (handled < points.length) {
    const next = Math.min(...points.filter((point) => point >= n))
    delta += (next - n) * (handled + 1)
    n = next
    for (const point of points) {
      if (point < n) delta++
      if (point !== n) continue
      output += toVariableLength(delta, bias)
      bias = adapt(delta, handled + 1, handled === basic.length)
      delta = 0
      handled++
    }
    delta++
    n++
  }
  return output
}

function toVariableLength(delta: number, bias: number): string {
  let digits = ''
  let q = delta
  for (let k = 36; ; k += 36) {
    const t = Math.min(26, Math.max(1, k - bias))
    if (q < t) return digits + toDigit(q)
    digits += toDigit(t + ((q - t) % (36 - t)))
    q = Math.floor((q - t) / (36 - t))
  }
}

function toDigit(value: number): string {
  return String.fromCodePoint(value < 26 ? value + 0x61 : value - 26 + 0x30)
}

function adapt(delta: number, count: number, first: boolean): number {
  let rest = Math.floor(delta / (first ? 700 : 2))
  rest += Math.floor(rest / count)
  let k = 0
  for (; rest > 455; k += 36) rest = Math.floor(rest / 35)
  return k + Math.floor((36 * rest) / (rest + 38))
}
