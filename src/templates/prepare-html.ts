import { createRequire } from 'node:module'
import type { Options } from '@css-inline/css-inline'
import { htmlToText } from '../mime/html-to-text.js'
import { scanHtml, type ScannedHtml } from './scan-html.js'

/**
 * Inlining CSS and deriving the text take milliseconds, rendering takes microseconds. What is the same for everybody is
 * therefore done once, on the template itself, with words in place of its Liquid, wherever the outcome is provably the
 * one that doing it to the rendered html would have; otherwise it is done to the rendered html.
 */
export interface PreparedHtml {
  readonly source: string
  /** Inline the CSS of what was rendered. */
  readonly inlineLater: boolean
}

/** No stylesheet is ever fetched. What cannot be inlined (media queries, :hover) stays in a style element. */
const OPTIONS: Options = {
  loadRemoteStylesheets: false,
  keepLinkTags: true,
  keepStyleTags: true,
  removeInlinedSelectors: true,
  keepAtRules: true,
}

/** Elements cannot be told from each other by what the data will put there, or by how often a loop will repeat them. */
const DEPENDS_ON_DATA = /\[|:empty|:has\(|:is\(|:not\(|:where\(/i
const DEPENDS_ON_SIBLINGS = /:nth-|:first-|:last-|:only-|[+~]/i
/** Their escaped output is text in html and would be entities in text. */
const MARKUP_FILTERS = /\|\s*(?:escape|escape_once|xml_escape|newline_to_br|strip_html)\b/
const BLOCKS = new Set(['if', 'unless', 'case', 'for', 'tablerow', 'capture', 'comment', 'raw'])
const BRANCHES = new Set(['else', 'elsif', 'when', 'break', 'continue'])
const VOID = new Set(['area', 'base', 'br', 'col', 'embed', 'hr', 'img', 'input', 'link', 'meta', 'source', 'wbr'])

/** The package is loaded when there is CSS to inline: its binary is made for each platform apart. */
let inlineCss: ((html: string, options: Options) => string) | undefined

export function inlineStyles(html: string): string {
  inlineCss ??= (createRequire(import.meta.url)('@css-inline/css-inline') as { inline: typeof inlineCss }).inline!
  return inlineCss(html, OPTIONS).replaceAll(/<style>\s*<\/style>/g, '')
}

export function prepareHtml(source: string): PreparedHtml {
  const scanned = scanHtml(source)
  if (scanned.styles.length === 0) return { source, inlineLater: false }
  const inlined = inlineOnce(source, scanned)
  return inlined === null ? { source, inlineLater: true } : { source: inlined, inlineLater: false }
}

function inlineOnce(source: string, scanned: ScannedHtml): string | null {
  const css = scanned.styles.join('\n')
  const fragments = toFragments(source, scanned)
  if (fragments === null || DEPENDS_ON_DATA.test(css)) return null
  const hasBlocks = fragments.some(({ kind }) => kind === 'block')
  if (hasBlocks && DEPENDS_ON_SIBLINGS.test(css)) return null
  const word = unusedWord(source)
  const masked = mask(fragments, (index, { kind }) =>
    kind === 'block' ? `<!--${word}${index}z-->` : `${word}${index}z`,
  )
  const inlined = inlineStyles(masked)
  const pieces = fragments.filter(({ kind }) => kind !== 'html')
  // Every piece is still there, once, in its order, and every block still holds whole elements.
  const found = [...inlined.matchAll(new RegExp(`(<!--|&lt;!--)?${word}(\\d+)z`, 'g'))]
  if (found.length !== pieces.length || found.some(([, open, index], at) => Number(index) !== at || open === '&lt;!--'))
    return null
  const restored = inlined.replaceAll(
    new RegExp(`<!--${word}(\\d+)z-->|${word}(\\d+)z`, 'g'),
    (_, block: string | undefined, opaque: string | undefined) => pieces[Number(block ?? opaque)]!.text,
  )
  return hasBlocks && !hasWholeBlocks(inlined, word, pieces) ? null : restored
}

/** The text part as Liquid, made from the html; null: it has to be made from what was rendered. */
export function deriveTextSource(source: string): string | null {
  const scanned = scanHtml(source)
  const fragments = toFragments(source, scanned)
  if (!fragments || fragments.some(({ kind, text }) => kind === 'block' || (kind === 'opaque' && !isPlain(text))))
    return null
  const word = unusedWord(source)
  const same = new Map<string, number>()
  // The same Liquid is the same word, so that a link whose text is its address is recognised.
  const masked = mask(fragments, (index, { text }) => {
    if (!same.has(text)) same.set(text, index)
    return `${word}${same.get(text)!}z`
  })
  const text = htmlToText(masked)
  if (/\{[{%]/.test(text)) return null
  const pieces = fragments.filter(({ kind }) => kind !== 'html')
  return text.replaceAll(new RegExp(`${word}(\\d+)z`, 'g'), (_, index: string) => pieces[Number(index)]!.text)
}

/** The same in text as in html. */
const isPlain = (liquid: string) => !MARKUP_FILTERS.test(liquid) && !/[&<]/.test(withoutLiquid(liquid))
const withoutLiquid = (text: string) => text.replaceAll(/\{\{.*?\}\}|\{%.*?%\}/gs, '')

interface Fragment {
  /** `opaque`: puts text, and never markup, in its place. `block`: begins, divides or ends what holds markup. */
  readonly kind: 'html' | 'opaque' | 'block'
  readonly text: string
}

/** The source in pieces; null if Liquid stands where nothing can stand for it. */
function toFragments(source: string, { pieces }: ScannedHtml): Fragment[] | null {
  const fragments: Fragment[] = []
  let from = 0
  for (let i = 0; i < pieces.length; i++) {
    const { begin, where, attribute, name, kind } = pieces[i]!
    if (where === 'tag' || where === 'unquoted' || (attribute !== null && /^(?:class|id|style)$/.test(attribute)))
      return null
    fragments.push({ kind: 'html', text: source.slice(from, begin) })
    let last = pieces[i]!
    let isBlock = kind === 'tag' && isBlockTag(name!)
    if (isBlock && BLOCKS.has(name!) && name !== 'tablerow') {
      const end = findEnd(pieces, i)
      const ending = end === -1 ? null : pieces[end]!
      if (ending) {
        const whole = source.slice(begin, ending.begin + ending.text.length)
        if (where === 'quoted' || where === 'comment' || !/[<>]/.test(withoutLiquid(whole))) {
          if (pieces.slice(i, end + 1).some((inner) => inner.where !== where)) return null
          isBlock = false
          last = ending
          i = end
        }
      }
    }
    from = last.begin + last.text.length
    fragments.push({ kind: isBlock ? 'block' : 'opaque', text: source.slice(begin, from) })
  }
  fragments.push({ kind: 'html', text: source.slice(from) })
  return fragments
}

const isBlockTag = (name: string) => BLOCKS.has(name) || BRANCHES.has(name) || name.startsWith('end')

function findEnd(pieces: ScannedHtml['pieces'], start: number): number {
  let depth = 0
  for (let i = start; i < pieces.length; i++) {
    const { kind, name } = pieces[i]!
    if (kind !== 'tag') continue
    if (BLOCKS.has(name!)) depth++
    else if (name!.startsWith('end') && --depth === 0) return i
  }
  return -1
}

function mask(fragments: readonly Fragment[], write: (index: number, fragment: Fragment) => string): string {
  let index = 0
  return fragments.map((fragment) => (fragment.kind === 'html' ? fragment.text : write(index++, fragment))).join('')
}

/** Letters only, so that it is one word to every reader. */
function unusedWord(source: string): string {
  let word = 'liquid'
  while (source.toLowerCase().includes(word)) word += 'x'
  return word
}

/** Between two tags of a block, every element that is opened is closed, and none else. */
function hasWholeBlocks(html: string, word: string, pieces: readonly Fragment[]): boolean {
  let depth = 0
  const blocks: number[] = []
  const pattern = new RegExp(
    `<!--${word}(\\d+)z-->|<!--.*?-->|<(/?)([a-z][^\\s/>]*)(?:"[^"]*"|'[^']*'|[^'">])*>`,
    'gis',
  )
  for (const [, piece, slash, element] of html.matchAll(pattern)) {
    if (piece !== undefined) {
      const name = /^\{%-?\s*(\w+)/.exec(pieces[Number(piece)]!.text)![1]!
      if (BLOCKS.has(name)) blocks.push(depth)
      else if (blocks.at(-1) !== depth) return false
      if (name.startsWith('end')) blocks.pop()
    } else if (element !== undefined && !VOID.has(element.toLowerCase())) {
      depth += slash ? -1 : 1
      if (depth < (blocks.at(-1) ?? 0)) return false
    }
  }
  return blocks.length === 0
}
