import {
  Context,
  type Emitter,
  filters,
  Liquid,
  LiquidError,
  type Template as LiquidNode,
  TokenizationError,
  toValue,
  toValueSync,
} from 'liquidjs'
import type { Json } from '../domain/action.js'
import { MISSING, watchVariables } from './watch-variables.js'

/**
 * Liquid, bounded. Templates are written by customers and filled with what anybody typed into a form, so a template
 * reaches no file, no prototype and no global, and ends after a bounded time, memory and output, whatever it says.
 */
export const TEMPLATE_LIMITS = {
  /** Characters of one part. Mail clients cut html off at about 100,000. */
  sourceLength: 500_000,
  /** Characters of one rendered part. */
  outputLength: 1_000_000,
  /** Rendering blocks everybody else in the process; a real template takes well under a millisecond. */
  renderMs: 250,
  /** Characters and list items made by filters. */
  memory: 10_000_000,
} as const

/** `html` escapes what it puts out; `plain` is for what no browser reads: subjects and text. */
export type Flavour = 'html' | 'plain'

export interface Place {
  readonly line: number
  readonly column: number
}

export type Parsed =
  | { readonly ok: true; readonly nodes: readonly LiquidNode[] }
  | { readonly ok: false; readonly detail: string; readonly place: Place | null }

export interface Filled {
  readonly text: string
  /** Variables that were put out and are not in the data. */
  readonly missing: readonly string[]
}

export type Data = { readonly [key: string]: Json }

const FILES = 'is not supported: a template is one piece, without files'
const REFUSED_TAGS: Readonly<Record<string, string>> = { include: FILES, render: FILES, layout: FILES, block: FILES }
const WRITTEN = 'written'

class OutputLimitError extends Error {}

/** Counts what is written anywhere in one rendering, also into variables by `capture`. */
class BoundedEmitter implements Emitter {
  buffer = ''

  readonly #written: { length: number }

  constructor(ctx: Context) {
    this.#written = ctx.getRegister(WRITTEN, { length: 0 })
  }

  write(value: unknown): void {
    const text = stringify(value)
    this.#written.length += text.length
    if (this.#written.length > TEMPLATE_LIMITS.outputLength) throw new OutputLimitError('output')
    this.buffer += text
  }
}

const engines: Readonly<Record<Flavour, Liquid>> = { html: createEngine('html'), plain: createEngine('plain') }

function createEngine(flavour: Flavour): Liquid {
  const engine = new Liquid({
    ...(flavour === 'html' && { outputEscape: 'escape' as const }),
    // Instead of the file system.
    templates: {},
    ownPropertyOnly: true,
    strictFilters: true,
    parseLimit: TEMPLATE_LIMITS.sourceLength,
    renderLimit: TEMPLATE_LIMITS.renderMs,
    memoryLimit: TEMPLATE_LIMITS.memory,
    // The same on every machine.
    timezoneOffset: 0,
    locale: 'en-US',
  })
  for (const [name, why] of Object.entries(REFUSED_TAGS))
    engine.registerTag(name, {
      parse() {
        throw new Error(`{% ${name} %} ${why}`)
      },
      render() {},
    })
  // Puts out data as it is: whoever fills in a form could then write the mail.
  engine.unregisterFilter('raw')
  if (flavour === 'html') {
    const escape = filters.escape as (this: unknown, value: unknown) => string
    // What is escaped by name is not escaped once more; markup that a filter makes is made of escaped text.
    engine.registerFilter('escape', { raw: true, handler: escape })
    engine.registerFilter('newline_to_br', {
      raw: true,
      handler(value: unknown) {
        return escape.call(this, value).replaceAll(/\r?\n/g, '<br>\n')
      },
    })
  }
  const { renderer } = engine
  const renderTemplates = renderer.renderTemplates.bind(renderer)
  renderer.renderTemplates = (nodes, ctx, emitter) => renderTemplates(nodes, ctx, emitter ?? new BoundedEmitter(ctx))
  return engine
}

export function parseLiquid(source: string, flavour: Flavour): Parsed {
  if (source.length > TEMPLATE_LIMITS.sourceLength)
    return { ok: false, detail: `may have ${TEMPLATE_LIMITS.sourceLength} characters`, place: null }
  try {
    const nodes = engines[flavour].parse(source)
    watchVariables(nodes)
    return { ok: true, nodes }
  } catch (error) {
    return { ok: false, detail: describe(error), place: placeOf(error) }
  }
}

export type Filling =
  | ({ readonly ok: true } & Filled)
  | { readonly ok: false; readonly detail: string; readonly place: Place | null }

export function fillIn(nodes: readonly LiquidNode[], flavour: Flavour, data: Data): Filling {
  const engine = engines[flavour]
  const ctx = new Context(data, engine.options, { sync: true }, { liquid: engine })
  const missing = new Set<string>()
  ctx.setRegister(MISSING, missing)
  try {
    const text = toValueSync(engine.renderer.renderTemplates([...nodes], ctx)) as string
    return { ok: true, text, missing: [...missing] }
  } catch (error) {
    return { ok: false, detail: describe(error), place: placeOf(error) }
  }
}

function describe(error: unknown): string {
  const origin = originOf(error)
  if (origin instanceof OutputLimitError) return `makes more than ${TEMPLATE_LIMITS.outputLength} characters`
  const message = (origin as Error).message
    .replace(/, (?:file:[^,]*, )?line:\d+, col:\d+$/, '')
    .split('\n')[0]!
    .slice(0, 300)
  if (message === 'template render limit exceeded') return `takes longer than ${TEMPLATE_LIMITS.renderMs} ms`
  if (message === 'memory alloc limit exceeded' || origin instanceof RangeError) return 'needs too much memory'
  if (message === 'undefined filter: raw') return 'must not use the filter raw: data is always escaped'
  return message
}

function originOf(error: unknown): unknown {
  return LiquidError.is(error) && error.originalError ? originOf(error.originalError) : error
}

function placeOf(error: unknown): Place | null {
  if (!(LiquidError.is(error) || error instanceof TokenizationError)) return null
  const { token } = error as { token?: { getPosition(): number[] } }
  const [line, column] = token?.getPosition() ?? []
  return line === undefined || column === undefined ? null : { line, column }
}

function stringify(value: unknown): string {
  const plain: unknown = toValue(value)
  if (typeof plain === 'string') return plain
  if (plain === undefined || plain === null) return ''
  if (Array.isArray(plain)) return plain.map(stringify).join('')
  return typeof plain === 'object' ? '[object]' : `${plain as number | boolean}`
}
