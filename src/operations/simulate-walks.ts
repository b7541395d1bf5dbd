import type { Candidate } from '../db/campaign-lists.js'
import type { Campaign } from '../db/campaigns.js'
import { chooseSender } from '../domain/choose-sender.js'
import { createTimeQueue } from '../domain/heap.js'
import { getFirstSlotAfterDay, getNextSendingSlot, localDayOf, quotaOn } from '../domain/pace.js'
import type { SendCalendar } from '../domain/send-calendar.js'
import { type NodeId, type SequenceGraph, stepNumbers } from '../domain/sequence.js'
import { giveBackSlot, type SlotBook } from '../domain/slots.js'
import { decideWalk, type Position, type Walk } from '../domain/walk.js'
import { contactData } from '../templates/render-campaign-email.js'
import { type TimedWalk, timeWalk } from './plan-walk.js'

/**
 * Walks people through a sequence in memory, with the functions that do it in earnest: what happens comes out of one
 * queue in the order of its time, so slots are taken in the order in which they will be.
 *
 * What lies behind the calendar's last day is counted and not followed: an email there can take no slot from one before
 * it. So the queue holds only those who have something left to come within the calendar, however many people there are.
 */
export interface SimulatedSender {
  readonly id: string
  /** A copy: it is written in. */
  readonly book: SlotBook
}

export interface SimulatedWalk {
  readonly contactId: string
  readonly address: string
  /** What branches ask about; not looked up where there is none. */
  readonly attributes: Candidate['attributes']
  readonly sender: SimulatedSender
  /** Heard of the contact since it was enrolled. Nothing is heard of anybody in a simulation. */
  readonly events: ReadonlySet<string>
  /** Of those, since its last email. */
  recentEvents: ReadonlySet<string>
  position: Position | null
}

export type Cause = 'enrolled' | 'arrived' | 'timed_out'

export interface Newcomer extends Candidate {
  readonly enrolledBefore: boolean
}

export interface WalkSimulation {
  /** People, as one turn enrolls them. */
  enroll(people: readonly Newcomer[], at: number): void
  /** Goes on with somebody at a time. */
  wait(walk: SimulatedWalk, cause: Cause, at: number): void
  /** One email that goes out. False when the campaign's `expires_at` comes before it: then the walk is over. */
  put(walk: SimulatedWalk, nodeId: string, at: number): boolean
  /** Whatever else is done at a time. */
  schedule(at: number, act: () => void): void
  /** Does what comes until then, but not more than so much at once. True when there is more. */
  run(until: number, most: number): boolean
  readonly tally: WalkTally
}

/** People about whom there is something to be said. */
export interface WalkTally {
  unsubscribed: number
  suppressed: number
  enrolledBefore: number
  /** Whose emails come too late for the campaign's `expires_at`. */
  expired: number
  /** Whose sender has no free day within two years. */
  withoutSlot: number
}

export const NOTHING: ReadonlySet<string> = new Set()
const NO_DATA: Candidate['attributes'] = {}

interface SimulationOptions {
  readonly graph: SequenceGraph
  readonly campaign: Pick<Campaign, 'id' | 'expiresAt'>
  /** Those that newcomers are given to. */
  readonly senders: readonly SimulatedSender[]
  readonly calendar: SendCalendar
  readonly random: () => number
}

/** Somebody who goes on, or something else that is done. */
type Entry = { readonly walk: SimulatedWalk; readonly cause: Cause } | { readonly walk: null; readonly act: () => void }

export function openWalkSimulation(options: SimulationOptions): WalkSimulation {
  const { graph, campaign, senders, calendar, random } = options
  const queue = createTimeQueue<Entry>()
  const { decide, countRest } = rememberDecisions(graph)
  const asks = graph.nodes.some(({ type }) => type === 'branch')
  const free = followFreeDays(senders)
  const numbers = stepNumbers(graph)
  const expiresAt = campaign.expiresAt?.getTime() ?? Infinity
  const tally: WalkTally = { unsubscribed: 0, suppressed: 0, enrolledBefore: 0, expired: 0, withoutSlot: 0 }

  const plan = ({ sender }: SimulatedWalk, decided: Walk, at: number): TimedWalk =>
    timeWalk(decided, { book: sender.book, now: new Date(at), random })

  const put = ({ contactId, address, sender }: SimulatedWalk, nodeId: string, at: number): boolean => {
    if (at >= expiresAt) {
      tally.expired++
      return false
    }
    calendar.add({ at, address, contactId, step: numbers.get(nodeId) ?? null, senderId: sender.id })
    return true
  }

  /** Nothing of it lies within the calendar any more. */
  const leave = (walk: SimulatedWalk, cause: Cause): void => {
    if (expiresAt > calendar.until) calendar.addBeyond(countRest(walk, cause))
    else if (countRest(walk, cause) > 0) tally.expired++
  }

  const wait = (walk: SimulatedWalk, cause: Cause, at: number): void => {
    if (at >= calendar.until) leave(walk, cause)
    else queue.push(at, { walk, cause })
  }

  const move = (walk: SimulatedWalk, cause: Cause, at: number): void => {
    const decided = decide(walk, cause)
    if (decided.moved) follow(walk, decided, plan(walk, decided, at))
  }

  const follow = (walk: SimulatedWalk, { position }: Walk, { steps, timers }: TimedWalk): void => {
    walk.position = position
    if (steps.length > 0) walk.recentEvents = NOTHING
    const [timer] = timers
    const cause = timer?.type === 'timeout' ? 'timed_out' : 'arrived'
    for (const [place, { nodeId, runAt, slotAt }] of steps.entries()) {
      if (slotAt === null) {
        // It would be looked at again and again: whatever comes of that comes late.
        tally.withoutSlot++
        calendar.addBeyond(steps.length - place)
        return leave(walk, cause)
      }
      if (!put(walk, nodeId, runAt.getTime())) return
    }
    if (timer) wait(walk, cause, timer.runAt.getTime())
  }

  const enroll = (people: readonly Newcomer[], at: number): void => {
    const plans: { person: Newcomer; walk: SimulatedWalk; decided: Walk; planned: TimedWalk }[] = []
    for (const person of people) {
      if (person.unsubscribed) tally.unsubscribed++
      else if (person.suppressed) tally.suppressed++
      else {
        if (person.enrolledBefore) tally.enrolledBefore++
        const { id: contactId, address } = person
        const attributes = asks ? contactData(person) : NO_DATA
        const freeAt = free.earliest(at)
        const within = freeAt < calendar.until
        const several = within && senders.length > 1
        const sender = (several ? chooseSender(senders, new Date(freeAt)) : null) ?? senders[0]!
        const walk = { contactId, address, attributes, sender, events: NOTHING, recentEvents: NOTHING, position: null }
        if (!within) {
          if (!person.enrolledBefore) leave(walk, 'enrolled')
          continue
        }
        const decided = decide(walk, 'enrolled')
        plans.push({ person, walk, decided, planned: plan(walk, decided, at) })
      }
    }
    // As in earnest: who walks the sequence already is found when all are planned, and their slots are free again then.
    for (const { person, walk, decided, planned } of plans) {
      if (!person.enrolledBefore) follow(walk, decided, planned)
      else
        for (const { bookedOn, slotAt } of planned.steps)
          if (bookedOn !== null) {
            giveBackSlot(walk.sender.book, { day: bookedOn, at: slotAt })
            free.forget()
          }
    }
  }

  return {
    enroll,
    wait,
    put,
    schedule: (at, act) => queue.push(at, { walk: null, act }),
    run(until, most) {
      for (let done = 0; done < most; done++) {
        const at = queue.nextAt()
        if (at === null || at > until) return false
        const next = queue.pop()!
        if (next.walk) move(next.walk, next.cause, Math.max(at, calendar.from))
        else next.act()
      }
      return true
    },
    tally,
  }
}

/** All who are at the same place go the same way, unless a branch asks about them: that is decided once. */
function rememberDecisions(graph: SequenceGraph) {
  const decisions = new Map<Cause, Map<NodeId | null, Walk>>()
  const rests = new Map<Cause, Map<NodeId | null, number>>()
  let asked = false

  const decideAfresh = (walk: SimulatedWalk, cause: Cause): Walk =>
    decideWalk(
      graph,
      walk.position,
      { kind: cause },
      {
        get attributes() {
          asked = true
          return walk.attributes
        },
        get events() {
          asked = true
          return walk.events
        },
        // Whoever's time is up is not asked what was heard lately, as in earnest.
        recentEvents: cause === 'arrived' ? walk.recentEvents : NOTHING,
      },
    )

  const countAfresh = (walk: SimulatedWalk, cause: Cause): number => {
    const copy = { ...walk }
    let count = 0
    for (let next: Cause | null = cause; next;) {
      const { position, effects }: Walk = decideAfresh(copy, next)
      const sends = effects.filter(({ kind }) => kind === 'send').length
      if (sends > 0) copy.recentEvents = NOTHING
      count += sends
      copy.position = position
      const last = effects.at(-1)?.kind
      next = last === 'wait' ? 'arrived' : last === 'timeout' ? 'timed_out' : null
    }
    return count
  }

  const remember =
    <Found>(known: Map<Cause, Map<NodeId | null, Found>>, find: (walk: SimulatedWalk, cause: Cause) => Found) =>
    (walk: SimulatedWalk, cause: Cause): Found => {
      if (walk.recentEvents.size > 0) return find(walk, cause)
      let places = known.get(cause)
      if (!places) known.set(cause, (places = new Map()))
      const place = walk.position?.nodeId ?? null
      let found = places.get(place)
      if (found !== undefined) return found
      asked = false
      found = find(walk, cause)
      if (!asked) places.set(place, found)
      return found
    }
  return { decide: remember(decisions, decideAfresh), countRest: remember(rests, countAfresh) }
}

/**
 * From when on any of the senders has a day with quota left. Nothing can be booked before that, so whoever looks for a
 * sender need not look at all the full days again for everybody.
 */
function followFreeDays(senders: readonly SimulatedSender[]) {
  let known: (FreeDay | null)[] | null = null
  const earliest = (at: number): number => {
    known ??= senders.map(({ book }) => readDay(book, getNextSendingSlot(book.pace, new Date(at))))
    let first = Infinity
    for (const [place, { book }] of senders.entries()) {
      let day = known[place] ?? null
      while (day && (book.days.get(day.date)?.booked ?? 0) >= day.quota)
        known[place] = day = readDay(book, getFirstSlotAfterDay(book.pace, day.date))
      if (day && day.at < first) first = day.at
    }
    return first
  }
  return { earliest, forget: () => void (known = null) }
}

interface FreeDay {
  readonly at: number
  readonly date: string
  readonly quota: number
}

function readDay({ pace, rampUpFrom }: SlotBook, slot: Date | null): FreeDay | null {
  if (!slot) return null
  const date = localDayOf(pace, slot)
  return { at: slot.getTime(), date, quota: quotaOn(pace, rampUpFrom, date) ?? Infinity }
}
