import type { HeardEvent, OpenWalk, WalkEmail } from '../db/open-walks.js'
import type { SendCalendar } from '../domain/send-calendar.js'
import { decideFollowUp } from '../domain/follow-up.js'
import { giveBackSlot, takeSlot } from '../domain/slots.js'
import { contactData } from '../templates/render-campaign-email.js'
import { SETTLED_MS } from './plan-walk.js'
import { NOTHING, type SimulatedSender, type SimulatedWalk, type WalkSimulation } from './simulate-walks.js'

/** Takes up an enrollment where it is. What is planned stands at its times; from there it goes on. */
interface Taking {
  readonly simulation: WalkSimulation
  readonly calendar: SendCalendar
  readonly senders: ReadonlyMap<string, SimulatedSender>
  readonly random: () => number
}

/** Why nothing more comes of somebody until somebody does something. */
export type Standing = 'paused' | 'undecided' | 'not_mailed'

/** What is late by less is being sent at this moment. What is later than that was kept from it, and needs another slot. */
const LATE_MS = 120_000

/** Null when it goes on. `events` are those since it was enrolled. */
export function takeUpWalk(open: OpenWalk, events: readonly HeardEvent[], taking: Taking): Standing | null {
  const { simulation, calendar } = taking
  const { contactId, address, nodeId, arrived } = open
  const sender = taking.senders.get(open.senderId)
  if (open.paused) return 'paused'
  if (address === null || !open.mayBeMailed || !sender) return 'not_mailed'
  const ended = open.emails.find((email) => decideFollowUp(email, 0, new Date(calendar.from)).kind === 'stop')
  if (ended) return 'not_mailed'
  // Those after it wait for a person to decide about it.
  if (open.emails.some(({ state }) => state === 'uncertain' || state === 'failed')) return 'undecided'
  const waiting = open.emails.filter(isWaiting)
  const last = open.emails.at(-1)
  const since = last?.runAt ?? open.createdAt
  const walk: SimulatedWalk = {
    contactId,
    address,
    attributes: contactData({ ...open, address }),
    sender,
    events: events.length === 0 ? NOTHING : new Set(events.map(({ type }) => type)),
    recentEvents:
      events.length === 0 ? NOTHING : new Set(events.filter(({ at }) => at >= since).map(({ type }) => type)),
    position: { nodeId, arrived },
  }
  const goOn = () => {
    const lastAt = placeEmails(walk, open.emails, taking)
    const { timer } = open
    if (lastAt === null || !timer) return
    const due = timer.runAt.getTime()
    if (timer.type === 'timeout') simulation.wait(walk, 'timed_out', due)
    // Of emails that were moved it waits for the last, and as long after it as it would have.
    else simulation.wait(walk, 'arrived', waiting.length > 0 ? Math.max(due, lastAt + timer.delayMs + SETTLED_MS) : due)
  }
  const firstAt = waiting[0]?.runAt.getTime() ?? Infinity
  if (firstAt < calendar.from - LATE_MS) simulation.schedule(firstAt, goOn)
  else goOn()
  return null
}

const isWaiting = ({ state }: WalkEmail) => state === 'pending' || state === 'leased' || state === 'armed'

/** When the last of them goes out; null when the campaign is over before that. */
function placeEmails(walk: SimulatedWalk, emails: readonly WalkEmail[], taking: Taking): number | null {
  const { simulation, calendar } = taking
  let last = -Infinity
  for (const [place, email] of emails.entries()) {
    if (!isWaiting(email)) {
      last = email.stateAt.getTime()
      continue
    }
    const at = placeEmail(walk, email, last, taking)
    if (at === null) {
      calendar.addBeyond(emails.length - place)
      return null
    }
    if (!simulation.put(walk, email.nodeId, at)) return null
    last = at
  }
  return last
}

function placeEmail(walk: SimulatedWalk, email: WalkEmail, last: number, { calendar, random }: Taking): number | null {
  const due = email.runAt.getTime()
  const earliest = last + email.delayMs
  if (due >= calendar.from - LATE_MS && due >= earliest) return Math.max(due, calendar.from)
  const { book } = walk.sender
  if (email.bookedOn !== null) giveBackSlot(book, { day: email.bookedOn, at: email.slotAt })
  return takeSlot(book, new Date(Math.max(calendar.from, earliest)), random)?.at.getTime() ?? null
}
