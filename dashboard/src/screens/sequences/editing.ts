import type { Shape } from '../../api/types'
import type { Node } from './sequence-queries'

/** What both ways of editing are given. */
export interface Editing {
  readonly draft: { readonly start: string; readonly nodes: readonly Node[] }
  readonly setDraft: (draft: { readonly start: string; readonly nodes: readonly Node[] }) => void
  readonly templates: readonly Pick<Shape<'Template'>, 'id' | 'name'>[]
  readonly problems: readonly { readonly pointer: string; readonly detail: string }[]
}

/** What is wrong with a field of the node at this place, or with any field inside it. */
export const problemAt = (problems: Editing['problems'], index: number, field: string): string | undefined =>
  problems.find(
    ({ pointer }) => pointer === `/nodes/${index}/${field}` || pointer.startsWith(`/nodes/${index}/${field}/`),
  )?.detail

export function freshId(nodes: readonly Node[], base: string): string {
  const taken = new Set(nodes.map(({ id }) => id))
  for (let n = nodes.length + 1; ; n++) if (!taken.has(`${base}-${n}`)) return `${base}-${n}`
}
