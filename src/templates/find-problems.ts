import { type Parsed, type Place, parseLiquid } from './liquid-engine.js'
import { isUnsafeLink } from './safe-links.js'
import { PIECE, scanHtml, type ScannedPiece } from './scan-html.js'

/** What a template is written as. */
export interface TemplateSource {
  readonly subject: string
  readonly html: string | null
  readonly text: string | null
}

export interface TemplateProblem {
  readonly path: readonly [keyof TemplateSource]
  /** With the line and the column, if there is one place. */
  readonly detail: string
}

const PARTS = ['subject', 'html', 'text'] as const
/** One that is beyond help is not described to its last tag. */
const MOST = 20

/** Everything that keeps a template from being saved. */
export function findTemplateProblems(source: TemplateSource): TemplateProblem[] {
  const problems: TemplateProblem[] = []
  if (source.html === null && source.text === null)
    problems.push({ path: ['html'], detail: 'a template needs html or text' })
  if (source.subject.trim() === '') problems.push({ path: ['subject'], detail: 'is empty' })
  else if (/[\r\n]/.test(source.subject)) problems.push({ path: ['subject'], detail: 'must be one line' })
  for (const part of PARTS) {
    const written = source[part]
    if (written === null) continue
    const parsed: Parsed = parseLiquid(written, part === 'html' ? 'html' : 'plain')
    const found = parsed.ok ? (part === 'html' ? findHtmlProblems(written) : []) : [parsed]
    for (const { detail, place } of found.slice(0, MOST))
      problems.push({
        path: [part],
        detail: place ? `${detail} (line ${place.line}, column ${place.column})` : detail,
      })
  }
  return problems
}

interface Found {
  readonly detail: string
  readonly place: Place | null
}

function findHtmlProblems(html: string): Found[] {
  const { pieces, attributes } = scanHtml(html)
  const found: { detail: string; at: number }[] = []
  for (const piece of pieces) {
    const detail = findPieceProblem(piece)
    if (detail !== null) found.push({ detail, at: piece.begin })
  }
  for (const { name, value, begin } of attributes) {
    if (isUnsafeLink(name, value.split(PIECE)[0]!))
      found.push({ detail: `${name} must not be a javascript:, vbscript: or data: link`, at: begin })
  }
  return found.toSorted((a, b) => a.at - b.at).map(({ detail, at }) => ({ detail, place: placeAt(html, at) }))
}

/** Where escaping does not protect, data must not stand. */
function findPieceProblem({ kind, text, where, attribute }: ScannedPiece): string | null {
  const shown = text.length > 60 ? `${text.slice(0, 59)}…` : text
  if (where === 'style' || where === 'script') return `${shown} must not stand inside <${where}>`
  if (kind === 'tag') return null
  if (where === 'unquoted') return `${shown} needs quotes around it: as an attribute’s value it could end anywhere`
  if (where === 'tag') return `${shown} must not stand inside a tag: data cannot name elements or attributes`
  if (attribute?.startsWith('on') || attribute === 'srcdoc') return `${shown} must not stand in ${attribute}`
  return null
}

function placeAt(source: string, index: number): Place {
  const before = source.slice(0, index)
  return { line: before.split('\n').length, column: index - before.lastIndexOf('\n') }
}
