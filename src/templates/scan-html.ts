import { type TagToken, Tokenizer, type TopLevelToken, TypeGuards } from 'liquidjs'

/**
 * Where in the html each piece of Liquid stands, read as a browser would read the source with the pieces left out. What
 * is safe to put somewhere depends on it: escaping protects text and quoted attributes, and nothing else.
 */
export interface ScannedPiece {
  readonly kind: 'output' | 'tag'
  /** As written, delimiters included. */
  readonly text: string
  /** For a tag. */
  readonly name: string | null
  readonly begin: number
  readonly where: 'text' | 'tag' | 'quoted' | 'unquoted' | 'style' | 'script' | 'comment'
  /** The attribute it is the value of, in lower case. */
  readonly attribute: string | null
}

export interface ScannedAttribute {
  readonly name: string
  /** `PIECE` stands where Liquid does. */
  readonly value: string
  readonly begin: number
}

export interface ScannedHtml {
  readonly pieces: readonly ScannedPiece[]
  readonly attributes: readonly ScannedAttribute[]
  readonly styles: readonly string[]
}

/** Cannot be part of a URL's scheme, so that what data might complete is told from what is written out. */
export const PIECE = '\uFFFC'

type State = keyof typeof WHERE

/** The states of reading, and what each is to a piece that stands there. */
const WHERE = {
  text: 'text',
  name: 'tag',
  tag: 'tag',
  attribute: 'tag',
  after: 'tag',
  before: 'unquoted',
  double: 'quoted',
  single: 'quoted',
  bare: 'unquoted',
  comment: 'comment',
  style: 'style',
  script: 'script',
} as const satisfies Readonly<Record<string, ScannedPiece['where']>>

const isSpace = (character: string) => /\s/.test(character)

/** Of a source that is known to be Liquid. */
export function scanHtml(source: string): ScannedHtml {
  const reader = createReader()
  for (const token of new Tokenizer(source).readTopLevelTokens()) {
    if (TypeGuards.isHTMLToken(token)) reader.read(source.slice(token.begin, token.end), token.begin)
    else reader.meet(token)
  }
  return reader.result
}

function createReader() {
  const pieces: ScannedPiece[] = []
  const attributes: ScannedAttribute[] = []
  const styles: string[] = []
  let state: State = 'text'
  let element = ''
  let name = ''
  let value = ''
  let begin = 0
  /** What was read of a comment, a style or a script. */
  let raw = ''

  const endAttribute = () => {
    if (name !== '') attributes.push({ name: name.toLowerCase(), value, begin })
    name = ''
    value = ''
  }
  const endTag = () => {
    endAttribute()
    const opened = element.toLowerCase()
    state = opened === 'style' || opened === 'script' ? opened : 'text'
    element = ''
    raw = ''
  }

  const step: Readonly<Record<State, (character: string, at: number) => void>> = {
    text(character) {
      if (character === '<') [state, element] = ['name', '']
    },
    name(character) {
      if (element === '!-' && character === '-') [state, raw] = ['comment', '']
      else if (character === '>') endTag()
      else if (isSpace(character)) state = element === '' ? 'text' : 'tag'
      else if (element === '' && !/[a-z/!?]/i.test(character)) state = 'text'
      else element += character
    },
    tag(character, at) {
      if (character === '>') endTag()
      else if (!isSpace(character) && character !== '/') [state, name, begin] = ['attribute', character, at]
    },
    attribute(character) {
      if (character === '>') endTag()
      else if (character === '=') state = 'before'
      else if (isSpace(character)) state = 'after'
      else if (character === '/') [state] = (endAttribute(), ['tag'])
      else name += character
    },
    after(character, at) {
      if (character === '=') state = 'before'
      else if (!isSpace(character)) {
        endAttribute()
        state = 'tag'
        step.tag(character, at)
      }
    },
    before(character) {
      if (character === '"') state = 'double'
      else if (character === "'") state = 'single'
      else if (character === '>') endTag()
      else if (!isSpace(character)) [state, value] = ['bare', character]
    },
    double: (character) => quoted(character, '"'),
    single: (character) => quoted(character, "'"),
    bare(character) {
      if (character === '>') endTag()
      else if (isSpace(character)) [state] = (endAttribute(), ['tag'])
      else value += character
    },
    comment(character) {
      raw += character
      if (character === '>' && raw.endsWith('-->')) state = 'text'
    },
    style: (character) => rawText(character, '</style'),
    script: (character) => rawText(character, '</script'),
  }

  const quoted = (character: string, quote: string) => {
    if (character === quote) [state] = (endAttribute(), ['tag'])
    else value += character
  }
  const rawText = (character: string, end: string) => {
    raw += character
    if (character !== '>') return
    const last = raw.lastIndexOf('<')
    if (
      last === -1 ||
      !raw
        .slice(last, last + end.length)
        .toLowerCase()
        .startsWith(end)
    )
      return
    if (state === 'style') styles.push(raw.slice(0, last))
    ;[state, raw] = ['text', '']
  }

  return {
    result: { pieces, attributes, styles } satisfies ScannedHtml,
    read(html: string, from: number) {
      for (let i = 0; i < html.length; i++) step[state](html[i]!, from + i)
    },
    meet(token: TopLevelToken) {
      const isOutput = TypeGuards.isOutputToken(token)
      pieces.push({
        kind: isOutput ? 'output' : 'tag',
        text: token.getText(),
        name: isOutput ? null : (token as unknown as TagToken).name,
        begin: token.begin,
        where: WHERE[state],
        attribute: state === 'double' || state === 'single' ? name.toLowerCase() : null,
      })
      if (state === 'double' || state === 'single' || state === 'bare') value += PIECE
      else if (state === 'before') [state, value] = ['bare', PIECE]
    },
  }
}
