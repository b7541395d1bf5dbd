import { findClosest } from '../domain/did-you-mean.js'
import { CommandError, USAGE } from './command-error.js'

/** A word that must be one of a few. */
export function readChoice<T extends string>(flag: string, text: string, allowed: readonly T[]): T {
  const found = allowed.find((each) => each === text)
  if (found) return found
  const closest = findClosest(text, allowed)
  throw new CommandError(
    USAGE,
    `${flag} is ${JSON.stringify(text)}; ${closest ? `did you mean ${JSON.stringify(closest)}?` : `it must be ${listOf(allowed)}.`}`,
  )
}

const listOf = (words: readonly string[]) => (words.length === 1 ? words[0] : `one of ${words.join(', ')}`)

export function readWhole(flag: string, text: string, least: number, most: number): number {
  const number = /^\d+$/.test(text) ? Number(text) : Number.NaN
  if (number >= least && number <= most) return number
  throw new CommandError(
    USAGE,
    `${flag} is ${JSON.stringify(text)}; it must be a whole number from ${least} to ${most}.`,
  )
}
