import { type Compiled, compileTemplate } from './compile-template.js'
import type { TemplateSource } from './find-problems.js'

/** A version never changes, so what was compiled of it stays right for ever. */
export interface TemplateCache {
  compile(templateId: string, version: number, source: TemplateSource): Compiled
}

/** As many campaigns and single emails' templates as are under way at once; the rest is compiled again when needed. */
const KEPT = 100

export function createTemplateCache(): TemplateCache {
  /** In the order of their last use. */
  const kept = new Map<string, Compiled>()
  return {
    compile(templateId, version, source) {
      const key = `${templateId}:${version}`
      const compiled = kept.get(key) ?? compileTemplate(source)
      kept.delete(key)
      kept.set(key, compiled)
      if (kept.size > KEPT) kept.delete(kept.keys().next().value!)
      return compiled
    },
  }
}
