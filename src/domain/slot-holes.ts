import { firstWithRoom, plantRoomTree, raiseRoom, type RoomTree, setRoom } from './room-tree.js'
import { countUpTo, insertSlot, removeSlot, type SlotDay } from './slot-days.js'

/**
 * The holes between the slots of a day, each of them the time from a slot to the next one. A tree knows for every minute
 * of the window that none of the holes that begin in it is longer than so much. It learns at once when one is made or
 * becomes longer, and that one has become shorter when a search has looked there in vain: that is once for each slot at
 * most.
 */
const MINUTE = 60

const minuteOf = (second: number) => Math.floor(second / MINUTE)

/**
 * The first slot after `second`, which is within the window, with at least so much time until the next one. The last of
 * the day has all the time there is: this knows nothing of other days.
 */
export function findHoleAfter(day: SlotDay, second: number, time: number): number | null {
  const { taken } = day
  const tree = (day.holes ??= plant(day))
  for (let minute = minuteOf(second + 1); (minute = firstWithRoom(tree, minute, time)) < Infinity; minute++) {
    const [start, end] = [minute * MINUTE, (minute + 1) * MINUTE]
    let longest = -1
    for (let place = countUpTo(taken, Math.max(second, start - 1)); taken[place]! < end; place++) {
      const found = timeAfter(taken, place)
      if (found >= time) return taken[place]!
      longest = Math.max(longest, found)
    }
    // What was looked at only in part may have more.
    if (second < start) setRoom(tree, minute, longest)
  }
  return null
}

export function insertTaken({ taken, holes }: SlotDay, second: number): void {
  const place = insertSlot(taken, second)
  if (holes) raiseRoom(holes, minuteOf(second), timeAfter(taken, place))
}

export function removeTaken({ taken, holes }: SlotDay, second: number): void {
  const place = removeSlot(taken, second)
  if (holes && place > 0) raiseRoom(holes, minuteOf(taken[place - 1]!), timeAfter(taken, place - 1))
}

const timeAfter = (taken: readonly number[], place: number): number =>
  place + 1 < taken.length ? taken[place + 1]! - taken[place]! : Infinity

/** Slots outside the window are left out: nobody looks for the holes behind them. */
function plant({ pieces, taken }: SlotDay): RoomTree {
  const first = minuteOf(pieces[0]!.from)
  const tree = plantRoomTree(first, minuteOf(pieces.at(-1)!.last) - first + 1, -1)
  for (const [place, second] of taken.entries()) raiseRoom(tree, minuteOf(second), timeAfter(taken, place))
  return tree
}
