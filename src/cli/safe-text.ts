/**
 * Subjects, names and the answers of mail servers come from strangers: what is written to a terminal must not steer it.
 * Format characters go too, since some of them turn text around.
 */
export const oneLine = (text: string): string =>
  text
    .replaceAll(/[\s\p{Zl}\p{Zp}]+/gu, ' ')
    .replaceAll(/[\p{Cc}\p{Cf}]/gu, '')
    .trim()

export const severalLines = (text: string): string =>
  text
    .split(/\r?\n/)
    .map((line) => line.replaceAll('\t', '  ').replaceAll(/[\p{Cc}\p{Cf}]/gu, ''))
    .join('\n')

/** Characters as people count them: one that is made of several code units is not cut in half. */
const characters = new Intl.Segmenter()
const WIDE = /\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Hangul}|\p{Emoji_Presentation}/u

const widthOfOne = (character: string) => (WIDE.test(character) ? 2 : 1)

export function widthOf(text: string): number {
  let width = 0
  for (const { segment } of characters.segment(text)) width += widthOfOne(segment)
  return width
}

export function cut(text: string, width: number): string {
  if (widthOf(text) <= width) return text
  let kept = ''
  let room = width - 1
  for (const { segment } of characters.segment(text)) {
    room -= widthOfOne(segment)
    if (room < 0) break
    kept += segment
  }
  return `${kept}…`
}

/** At spaces, with what follows the first line set in; a word longer than a line stays whole, to be copied. */
export function wrap(text: string, width: number, indent: string): string {
  const start = /^\s*/.exec(text)![0]
  const lines: string[] = []
  let line = start
  for (const word of text.slice(start.length).split(/(?<=\S) /)) {
    const longer = line.trim() === '' ? line + word : `${line} ${word}`
    if (line.trim() === '' || widthOf(longer) <= width) line = longer
    else {
      lines.push(line)
      line = indent + word
    }
  }
  return [...lines, line].join('\n')
}
