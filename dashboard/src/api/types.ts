import type { components, paths } from './schema'

/** A shape of the API by its name there. */
export type Shape<Name extends keyof components['schemas']> = components['schemas'][Name]

type Get<Path extends keyof paths> = paths[Path] extends {
  get: { responses: { 200: { content: { 'application/json': infer Answer } } } }
}
  ? Answer
  : never

/** What a GET of this path answers. */
export type Answer<Path extends keyof paths> = Get<Path>

/** One entry of a path that answers with a list. */
export type Entry<Path extends keyof paths> = Get<Path> extends { data: readonly (infer One)[] } ? One : never
