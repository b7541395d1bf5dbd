import { compile } from 'html-to-text'

/**
 * Half a megabyte of markup, styles, scripts and embedded images not counted, is far beyond what any mail client
 * shows and takes about a fifth of a second; the longest html accepted would take two, and everybody else would wait.
 */
const MAX_HTML_LENGTH = 500_000
/** The parser's cost grows with the square of the nesting. */
const MAX_NESTING = 2_000
/** Deeper elements are left out: the converter recurses, and the stack would end before real mail gets this deep. */
const MAX_DEPTH = 300

const convert = compile({
  // Mail clients wrap by themselves, and to the width they have.
  wordwrap: false,
  limits: { maxInputLength: MAX_HTML_LENGTH, maxDepth: MAX_DEPTH, ellipsis: '…' },
  selectors: [
    { selector: 'a', options: { hideLinkHrefIfSameAsText: true } },
    { selector: 'img', format: 'skip' },
    { selector: 'head', format: 'skip' },
    // Most tables in mail are layout: a row becomes a line, and its cells are kept apart.
    { selector: 'tr', format: 'block', options: { leadingLineBreaks: 1, trailingLineBreaks: 1 } },
    ...['td', 'th'].map((selector) => ({ selector, format: 'inlineSurround', options: { suffix: ' ' } })),
    ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((selector) => ({ selector, options: { uppercase: false } })),
  ],
})

/**
 * The text part for an html that came without one: links as `text [url]`, no images. Nothing is fetched. Html of any
 * size and shape takes a bounded time; what is beyond the limits is left out of the text, not of the email.
 */
export function htmlToText(html: string): string {
  const shown = dropUnshown(html)
  const kept = shown.slice(0, MAX_HTML_LENGTH)
  const text = isTooNested(kept) ? dropTags(kept) : convert(kept)
  return tidy(text) + (shown.length > kept.length ? '\n…' : '')
}

function tidy(text: string): string {
  const lines = text.split('\n').map((line) => line.trimEnd())
  return lines
    .join('\n')
    .replaceAll(/\n{4,}/g, '\n\n\n')
    .trim()
}

const NEVER_OPEN: ReadonlySet<string> = new Set(['area', 'br', 'col', 'hr', 'img', 'input', 'link', 'meta', 'wbr'])
const CLOSED_BY_THE_NEXT: ReadonlySet<string> = new Set(['dd', 'dt', 'li', 'option', 'p', 'td', 'th', 'tr'])

const UNSHOWN_START = /<!--|<(style|script)\b|\bdata:[\w/+.-]+;base64,/gi
const UNSHOWN_ENDS = {
  '<!--': /-->/g,
  style: /<\/style[^<>]*>/gi,
  script: /<\/script[^<>]*>/gi,
  data: /(?=[^\w+/=%-])/g,
}

/** What no reader sees would only use up the limit. What never ends hides the rest, as it does in a browser. */
function dropUnshown(html: string): string {
  let shown = ''
  let from = 0
  UNSHOWN_START.lastIndex = 0
  for (let start = UNSHOWN_START.exec(html); start; start = UNSHOWN_START.exec(html)) {
    shown += html.slice(from, start.index)
    const kind = start[0] === '<!--' ? '<!--' : (start[1]?.toLowerCase() ?? 'data')
    const end = UNSHOWN_ENDS[kind as keyof typeof UNSHOWN_ENDS]
    end.lastIndex = start.index + start[0].length
    const match = end.exec(html)
    if (!match) return shown
    from = match.index + match[0].length
    UNSHOWN_START.lastIndex = from
  }
  return shown + html.slice(from)
}

/** Follows the parser's own stack, because a closing tag that closes nothing takes nothing off it. */
function isTooNested(html: string): boolean {
  const open: string[] = []
  const counts = new Map<string, number>()
  for (const [, slash, tag] of html.matchAll(/<(\/?)([a-z][a-z0-9]*)/gi)) {
    const name = tag!.toLowerCase()
    const count = counts.get(name) ?? 0
    if (!slash) {
      if (NEVER_OPEN.has(name) || (CLOSED_BY_THE_NEXT.has(name) && open.at(-1) === name)) continue
      counts.set(name, count + 1)
      if (open.push(name) > MAX_NESTING) return true
    } else if (count > 0) {
      for (let closed = open.pop()!; ; closed = open.pop()!) {
        counts.set(closed, counts.get(closed)! - 1)
        if (closed === name) break
      }
    }
  }
  return false
}

function dropTags(html: string): string {
  return html
    .replaceAll(/<[^<>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .slice(0, MAX_HTML_LENGTH)
}
