import {
  type BulkPerson,
  countBulkPeople,
  countUnplanned,
  readBulkPeople,
  readReadyEmails,
  readWaitingEmails,
  type UpcomingEmail,
} from '../db/bulk-audience.js'
import type { Campaign } from '../db/campaigns.js'
import type { Sql } from '../db/client.js'
import { spaceByHour } from '../domain/campaign.js'
import { getFirstSlotAfterDay, getNextSendingSlot, localDayOf, quotaOn } from '../domain/pace.js'
import type { SendCalendar } from '../domain/send-calendar.js'
import type { Slices } from '../slices.js'
import type { SimulatedSender } from './simulate-walks.js'

/**
 * The batches of a bulk campaign as its turns will plan them, page by page: within the window and the quota of its sender
 * if it follows its pace, and no more in an hour than it may. Emails are taken to go out in the moment they are planned.
 */
interface BulkOptions {
  readonly campaign: Campaign
  readonly sender: SimulatedSender
  /** Whether its sender has a pace, and the campaign follows it. */
  readonly paced: boolean
  readonly calendar: SendCalendar
  /** When its next turn comes. */
  readonly startAt: number
  readonly slices: Slices
  readonly onPart: (part: number) => void
}

/** People whose emails come too late for the campaign's `expires_at`. */
export async function simulateBulk(sql: Sql, options: BulkOptions): Promise<{ readonly expired: number }> {
  const planned = await addPlanned(sql, options)
  const { campaign } = options
  return { expired: planned + (campaign.plannedAt ? 0 : await addBatches(sql, options)) }
}

/** Read at a time. */
const PAGE = 1_000

/** What has been planned and not gone out: booked already. */
async function addPlanned(sql: Sql, options: BulkOptions): Promise<number> {
  const { campaign, sender, paced, calendar, slices } = options
  let expired = 0
  const add = ({ contactId, address, runAt }: UpcomingEmail) => {
    const due = Math.max(runAt.getTime(), calendar.from)
    const at = paced ? (getNextSendingSlot(sender.book.pace, new Date(due))?.getTime() ?? Infinity) : due
    if (at >= expiry(campaign)) expired++
    else calendar.add({ at, address, contactId, step: null, senderId: sender.id })
  }
  for (const email of await readReadyEmails(sql, campaign)) {
    add(email)
    if (slices.isOver()) await slices.rest()
  }
  for (let after: string | undefined; ;) {
    const page = await readWaitingEmails(sql, campaign, { after, limit: PAGE })
    for (const email of page) add(email)
    if (slices.isOver()) await slices.rest()
    if (page.length < PAGE) return expired
    after = page.at(-1)!.id
  }
}

async function addBatches(sql: Sql, options: BulkOptions): Promise<number> {
  const { campaign, sender, calendar, slices, onPart } = options
  const hourly = campaign.hourlyLimit === null ? null : spaceByHour(campaign.hourlyLimit, campaign.batchSize)
  const wanted = hourly?.size ?? campaign.batchSize
  const lastAt = campaign.lastBatchAt?.getTime()
  const all = await countUnplanned(sql, campaign)
  const people = openAudience(sql, campaign)
  let at = hourly && lastAt !== undefined ? Math.max(options.startAt, lastAt + hourly.everyMs) : options.startAt
  for (;;) {
    const turn = findTurn(options, at)
    if (turn.at >= Math.min(calendar.until, expiry(campaign))) {
      const left = await countBulkPeople(sql, campaign, people.cursor())
      if (turn.at >= expiry(campaign) || expiry(campaign) <= calendar.until) return left
      calendar.addBeyond(left)
      return 0
    }
    const size = Math.min(wanted, turn.room)
    const page = await people.next(size)
    const mailed = page.filter(({ mayBeMailed }) => mayBeMailed)
    for (const { contactId, address } of mailed)
      calendar.add({ at: turn.at, address, contactId, step: null, senderId: sender.id })
    if (turn.day !== null) book(sender, turn.day, mailed.length)
    if (page.length < size) return 0
    onPart(people.seen() / all)
    if (slices.isOver()) await slices.rest()
    at = turn.at + (hourly?.everyMs ?? 0)
  }
}

/** The people that are left, in the order of the batches, read a larger page at a time. */
function openAudience(sql: Sql, campaign: Campaign) {
  let cursor = campaign.lastCursor
  let [read, ended, seen] = [[] as BulkPerson[], false, 0]
  return {
    cursor: () => cursor,
    seen: () => seen,
    /** Fewer than asked for when there are no more. */
    async next(size: number): Promise<readonly BulkPerson[]> {
      while (read.length < size && !ended) {
        const page = await readBulkPeople(sql, campaign, read.at(-1)?.contactId ?? cursor, PAGE)
        read.push(...page)
        ended = page.length < PAGE
      }
      const taken = read.slice(0, size)
      read = read.slice(size)
      cursor = taken.at(-1)?.contactId ?? cursor
      seen += taken.length
      return taken
    },
  }
}

interface Turn {
  readonly at: number
  readonly room: number
  /** Null: nothing to book on. */
  readonly day: string | null
}

/** The first instant from then on at which its sender's window is open, on a day with quota left. */
function findTurn({ sender: { book }, paced }: BulkOptions, from: number): Turn {
  if (!paced) return { at: from, room: Infinity, day: null }
  const { pace, rampUpFrom, days } = book
  for (let slot = getNextSendingSlot(pace, new Date(from)); slot;) {
    const day = localDayOf(pace, slot)
    const room = (quotaOn(pace, rampUpFrom, day) ?? Infinity) - (days.get(day)?.booked ?? 0)
    if (room > 0) return { at: slot.getTime(), room, day }
    slot = getFirstSlotAfterDay(pace, day)
  }
  return { at: Infinity, room: 0, day: null }
}

function book({ book: { days } }: SimulatedSender, day: string, count: number): void {
  const booked = days.get(day)
  if (booked) booked.booked += count
  else days.set(day, { booked: count, slots: [] })
}

const expiry = ({ expiresAt }: Campaign) => expiresAt?.getTime() ?? Infinity
