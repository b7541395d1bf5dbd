/**
 * How much room each of many places in a row may have, to find the first one that has enough without looking at all that
 * are full: a launch of 100,000 has hundreds of full days before it, and a full day thousands of slots. Every inner node
 * knows the most that one of the places below it has.
 */
export interface RoomTree {
  readonly first: number
  readonly size: number
  /** The root is at 1, the children of n at 2n and 2n + 1, the places from `size` on. */
  readonly most: Float64Array
}

/** At least so many places from `first` on, all with the same room. */
export function plantRoomTree(first: number, places: number, room: number): RoomTree {
  const size = 2 ** Math.ceil(Math.log2(Math.max(places, 2)))
  return { first, size, most: new Float64Array(2 * size).fill(room) }
}

export const covers = ({ first, size }: RoomTree, from: number, to: number): boolean =>
  from >= first && to <= first + size

export function setRoom({ first, size, most }: RoomTree, place: number, room: number): void {
  let node = place - first + size
  if (node < size || node >= 2 * size) return
  most[node] = room
  for (node >>= 1; node >= 1; node >>= 1) {
    const now = Math.max(most[2 * node]!, most[2 * node + 1]!)
    if (most[node] === now) return
    most[node] = now
  }
}

/** There is at least so much room in it now. */
export function raiseRoom({ first, size, most }: RoomTree, place: number, room: number): void {
  let node = place - first + size
  if (node < size || node >= 2 * size) return
  for (; node >= 1 && most[node]! < room; node >>= 1) most[node] = room
}

/** The first place from this one on with at least so much room; Infinity when there is none in the tree. */
export function firstWithRoom({ first, size, most }: RoomTree, from: number, room: number): number {
  let node = from - first + size
  if (node >= 2 * size) return Infinity
  // Up, until what is to the right has one; then down to the first.
  while (most[node]! < room) {
    while (node % 2 === 1) node >>= 1
    if (node === 0) return Infinity
    node++
  }
  while (node < size) node = most[2 * node]! >= room ? 2 * node : 2 * node + 1
  return node - size + first
}
