import type { Template as LiquidNode } from 'liquidjs'
import { EMAIL_LIMITS } from '../domain/new-email.js'
import { htmlToText } from '../mime/html-to-text.js'
import { findTemplateProblems, type TemplateProblem, type TemplateSource } from './find-problems.js'
import { type Data, fillIn, type Flavour, parseLiquid } from './liquid-engine.js'
import { deriveTextSource, inlineStyles, prepareHtml } from './prepare-html.js'
import { neutraliseLinks } from './safe-links.js'

/** What a template came to for somebody. */
export interface RenderedParts {
  readonly subject: string
  readonly html: string | null
  readonly text: string | null
}

export type Rendered =
  | ({ readonly ok: true } & RenderedParts)
  | {
      readonly ok: false
      /** Variables that were put out and are not in the data, or are null there. */
      readonly missing: readonly string[]
      readonly problem: string
      /** With nothing in the place of what is missing; null if it cannot be rendered at all. */
      readonly parts: RenderedParts | null
    }

export interface CompiledTemplate {
  render(data: Data): Rendered
}

export type Compiled =
  | { readonly ok: true; readonly template: CompiledTemplate }
  | { readonly ok: false; readonly problems: readonly TemplateProblem[] }

interface Part {
  readonly name: keyof TemplateSource
  readonly flavour: Flavour
  readonly nodes: readonly LiquidNode[]
}

/** Checks a template and makes it ready to be rendered any number of times. Never throws for what it says. */
export function compileTemplate(source: TemplateSource): Compiled {
  const problems = findTemplateProblems(source)
  if (problems.length > 0) return { ok: false, problems }
  const prepared = source.html === null ? null : prepareHtml(source.html)
  const derived = source.text === null && source.html !== null ? deriveTextSource(source.html) : null
  const textSource = source.text ?? derived
  const subject = toPart('subject', 'plain', source.subject)
  const html = prepared && toPart('html', 'html', prepared.source)
  const text = textSource === null ? null : toPart('text', 'plain', textSource)
  const parts = [subject, html, text].filter((part) => part !== null)

  return {
    ok: true,
    template: {
      render(data) {
        const known = withoutNulls(data) as Data
        const missing = new Set<string>()
        const filled: Partial<Record<keyof TemplateSource, string>> = {}
        for (const { name, flavour, nodes } of parts) {
          const filling = fillIn(nodes, flavour, known)
          if (!filling.ok) return failure([], `The template’s ${name} ${filling.detail}.`, null)
          filled[name] = toStorable(filling.text)
          for (const variable of filling.missing) missing.add(variable)
        }
        const shown = filled.html === undefined ? null : finishHtml(filled.html, prepared!.inlineLater)
        const rendered = {
          subject: toSubject(filled.subject!),
          html: shown,
          text: filled.text ?? (shown === null ? null : htmlToText(shown)),
        }
        if (missing.size === 0) return { ok: true, ...rendered }
        return failure([...missing], `There is no value for ${[...missing].join(', ')}.`, rendered)
      },
    },
  }
}

const failure = (missing: readonly string[], problem: string, parts: RenderedParts | null): Rendered => ({
  ok: false,
  missing,
  problem,
  parts,
})

function toPart(name: keyof TemplateSource, flavour: Flavour, source: string): Part {
  const parsed = parseLiquid(source, flavour)
  // Checked already, and what was made of it is made of its own pieces.
  if (!parsed.ok) throw new Error(`A template’s ${name} that was valid is not any more: ${parsed.detail}`)
  return { name, flavour, nodes: parsed.nodes }
}

const finishHtml = (html: string, inlineLater: boolean) => neutraliseLinks(inlineLater ? inlineStyles(html) : html)

/** One line, whatever the data holds: what follows a line break would be another header. */
const toSubject = (text: string) =>
  toStorable(
    text
      .replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ')
      .trim()
      .slice(0, EMAIL_LIMITS.subjectLength),
  )

/** Text a database can hold. */
const toStorable = (text: string) => text.replaceAll('\0', '').replaceAll(/\p{Cs}/gu, '\uFFFD')

/** A null is as good as nothing: an import writes one for every empty cell. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls)
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, member]) => member !== null)
      .map(([key, member]) => [key, withoutNulls(member)]),
  )
}
