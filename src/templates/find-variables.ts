import { analyzeSync } from 'liquidjs'
import type { TemplateSource } from './find-problems.js'
import { parseLiquid } from './liquid-engine.js'

/** The variables a template speaks of, whether it can do without them or not, as `contact.first_name`; in order. */
export function findVariables({ subject, html, text }: TemplateSource): string[] {
  const names = new Set<string>()
  for (const [part, flavour] of [
    [subject, 'plain'],
    [html, 'html'],
    [text, 'plain'],
  ] as const) {
    const parsed = part === null ? null : parseLiquid(part, flavour)
    if (!parsed?.ok) continue
    const { globals } = analyzeSync([...parsed.nodes], { partials: false })
    for (const used of Object.values(globals)) for (const variable of used) names.add(String(variable))
  }
  return [...names].toSorted()
}
