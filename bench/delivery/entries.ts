/**
 * Who takes part in delivering, and with how many connections. Every variant runs in every round; of each contender the
 * best is reported, so that nobody loses by a setting that does not suit the machine.
 */
export const CONTENDER_NAMES = ['postrider', 'postrider embedded', 'nodemailer'] as const

export type ContenderName = (typeof CONTENDER_NAMES)[number]

export interface Entry {
  readonly name: ContenderName
  readonly connections: number
}

/** All combinations, one number of connections after the other, so that contenders alternate. */
export const entriesOf = (names: readonly ContenderName[], connections: readonly number[]): Entry[] =>
  connections.flatMap((count) => names.map((name) => ({ name, connections: count })))

export const describeEntry = ({ name, connections }: Entry): string => `${name} (${connections} connections)`

/** Another one begins each round, and every other round runs backwards, so that nobody always follows the same one. */
export function orderOf(entries: readonly Entry[], round: number): Entry[] {
  const first = (round * 4) % entries.length
  const rotated = [...entries.slice(first), ...entries.slice(0, first)]
  return round % 2 === 0 ? rotated : rotated.toReversed()
}
