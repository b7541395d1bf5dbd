/** RFC 2047 allows 75 characters a word; this is what `=?utf-8?Q?` and `?=` leave of them. */
const MAX_CONTENT = 75 - '=?utf-8?Q??='.length
/** Even after a long header name a word carries this much, or a line of names could be made of nothing but overhead. */
const MIN_CONTENT = 12

/** The characters that may stand for themselves in a word of a display name, the strictest place (RFC 2047 5.3). */
const SAFE = /^[A-Za-z0-9!*+\-/]$/

/**
 * Text as encoded-words, in whichever of Q and B is shorter. No word ends inside a character, because readers decode
 * each word by itself. White space between two words is dropped by readers, so the words may be put on lines freely.
 *
 * @param room Characters left on the line on which the first word begins.
 */
export function toEncodedWords(text: string, room: number): string[] {
  const useQ = countQ(text) <= Math.ceil(Buffer.byteLength(text) / 3) * 4
  const words: string[] = []
  let limit = Math.min(MAX_CONTENT, Math.max(MIN_CONTENT, room - '=?utf-8?Q??='.length))
  let chunk = ''
  let used = 0
  for (const character of text) {
    const cost = useQ ? toQ(character).length : Buffer.byteLength(character)
    if ((useQ ? used + cost : Math.ceil((used + cost) / 3) * 4) > limit) {
      words.push(toWord(chunk, useQ))
      chunk = ''
      used = 0
      limit = MAX_CONTENT
    }
    chunk += character
    used += cost
  }
  words.push(toWord(chunk, useQ))
  return words
}

function toWord(chunk: string, useQ: boolean): string {
  if (!useQ) return `=?utf-8?B?${Buffer.from(chunk).toString('base64')}?=`
  let content = ''
  for (const character of chunk) content += toQ(character)
  return `=?utf-8?Q?${content}?=`
}

function countQ(text: string): number {
  let count = 0
  for (const character of text) count += toQ(character).length
  return count
}

function toQ(character: string): string {
  if (SAFE.test(character)) return character
  if (character === ' ') return '_'
  return Buffer.from(character).toString('hex').toUpperCase().replaceAll(/../g, '=$&')
}
