import { type IdPrefix, readId } from '../id.js'
import type { InputProblem } from './problem.js'

/** The id behind one that was given in a body. What is no id of its kind names nothing, and is said with the rest. */
export function readReferenceIn(name: string, text: string, prefix: IdPrefix, problems: InputProblem[]): string {
  const id = readId(prefix, text)
  if (id === null) problems.push({ in: 'body', path: [name], detail: `must be an id such as ${prefix}_0123…` })
  return id ?? ''
}

/** Of a list, each with its place in it. */
export const readReferencesIn = (
  name: string,
  texts: readonly string[],
  prefix: IdPrefix,
  problems: InputProblem[],
): string[] =>
  texts.map((text, i) => {
    const id = readId(prefix, text)
    if (id === null) problems.push({ in: 'body', path: [name, i], detail: `must be an id such as ${prefix}_0123…` })
    return id ?? ''
  })
