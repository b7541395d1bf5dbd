import { type CampaignList, readMembers } from '../db/campaign-lists.js'
import { findCampaignSenders } from '../db/campaign-steps.js'
import { type Campaign, findCampaign } from '../db/campaigns.js'
import type { Sql } from '../db/client.js'
import { type HeardEvent, readEventsOf, readOpenWalks } from '../db/open-walks.js'
import { readSlotBook } from '../db/read-slot-book.js'
import { readSnapshot } from '../db/read-snapshot.js'
import { readNow } from '../db/sender-days.js'
import { findSender, type Sender } from '../db/senders.js'
import { findSequence, findSequenceGraph } from '../db/sequences.js'
import { countPeopleAhead, findEnrolledBefore, readUnreadLists } from '../db/unread-lists.js'
import { type CalendarDay, type FutureEmail, openCalendar, type SendCalendar } from '../domain/send-calendar.js'
import { seededDice } from '../domain/seeded-dice.js'
import type { SequenceGraph } from '../domain/sequence.js'
import { PostriderError } from '../errors.js'
import { createSlices, type Slices } from '../slices.js'
import { campaignNotFound } from './campaigns.js'
import type { Context } from './context.js'
import { describeAssumptions } from './describe-assumptions.js'
import { TURN } from './run-enroll-turn.js'
import { simulateBulk } from './simulate-bulk.js'
import { type Standing, takeUpWalk } from './simulate-open-walk.js'
import { openWalkSimulation, type SimulatedSender, type WalkSimulation, type WalkTally } from './simulate-walks.js'

/** What a campaign would send in the next days if nobody answered and nothing went wrong. Writes nothing. */
export interface CampaignSimulation {
  readonly campaign: Campaign
  readonly from: Date
  readonly until: Date
  readonly timezone: string
  readonly days: readonly CalendarDay[]
  /** The first so many of them. */
  readonly emails: readonly FutureEmail[]
  readonly total: number
  /** Emails after the last day. */
  readonly beyond: number
  readonly assumptions: readonly string[]
  readonly senders: readonly Sender[]
}

export interface SimulationInput {
  /** From today on. */
  readonly days: number
  /** How many emails are shown one by one. */
  readonly limit: number
  /** Of the days. Absent: the first sender's. */
  readonly timezone?: string | undefined
}

export const MOST_SIMULATED_DAYS = 366
export const MOST_SIMULATED_EMAILS = 1_000

/** People of whom something is said in the answer. */
export type SimulationTally = WalkTally & Record<Standing, number>

export interface SimulationOptions {
  /** Whatever else this process does has its turn between them. */
  readonly slices?: Slices
  /** Told again and again how far it is, from 0 to 1, and how to see what there is by then. */
  readonly onProgress?: (progress: number, soFar: () => CampaignSimulation) => void
}

export const simulateCampaign = (
  { db }: Pick<Context, 'db'>,
  workspaceId: string,
  id: string,
  input: SimulationInput,
  { slices = createSlices(), onProgress }: SimulationOptions = {},
): Promise<CampaignSimulation> =>
  readSnapshot(db, async (sql) => {
    const campaign = await findCampaign(sql, workspaceId, id)
    if (!campaign) throw campaignNotFound()
    const from = await readNow(sql)
    const senders = await findSenders(sql, campaign)
    const timezone = input.timezone ?? senders[0]?.pace?.timezone ?? 'UTC'
    const calendar = openCalendar({ from, days: input.days, timezone, limit: input.limit })
    const tally = emptyTally()
    const show = (): CampaignSimulation => ({
      campaign,
      from,
      until: new Date(calendar.until),
      timezone,
      days: calendar.days(),
      emails: calendar.first(),
      total: calendar.total(),
      beyond: calendar.beyond(),
      assumptions: describeAssumptions(campaign, senders, tally, new Date(calendar.until)),
      senders,
    })
    if (campaign.status !== 'sent' && campaign.status !== 'canceled') {
      if (senders.length === 0)
        throw new PostriderError(
          'campaign_not_ready',
          'The campaign has no sender any more: nothing of it would go out.',
        )
      const books: SimulatedSender[] = []
      for (const sender of senders) books.push({ id: sender.id, book: await readSlotBook(sql, sender, from) })
      const startAt = Math.max(from.getTime(), campaign.startedAt ? 0 : (campaign.scheduledAt?.getTime() ?? 0))
      const onPart = (part: number) => onProgress?.(Math.min(1, part), show)
      onPart(0)
      const simulated = { campaign, senders, books, calendar, startAt, tally, slices, onPart }
      await (campaign.sequenceId === null ? bulk(sql, simulated) : walks(sql, simulated, campaign.sequenceId))
    }
    return show()
  })

interface Simulated {
  readonly campaign: Campaign
  readonly senders: readonly Sender[]
  readonly books: readonly SimulatedSender[]
  readonly calendar: SendCalendar
  /** When people are enrolled, or the next batch is planned. */
  readonly startAt: number
  readonly tally: SimulationTally
  readonly slices: Slices
  /** How much of it is done, from 0 to 1. */
  readonly onPart: (part: number) => void
}

const emptyTally = (): SimulationTally => ({
  unsubscribed: 0,
  suppressed: 0,
  enrolledBefore: 0,
  expired: 0,
  withoutSlot: 0,
  paused: 0,
  undecided: 0,
  not_mailed: 0,
})

/** In the order in which they are locked to enroll, which decides between two that are equally free. */
async function findSenders(sql: Sql, { id, workspaceId, senderId, sequenceId }: Campaign): Promise<Sender[]> {
  const chosen = sequenceId === null ? [{ senderId }] : await findCampaignSenders(sql, id)
  const found: Sender[] = []
  for (const each of chosen) {
    const sender = await findSender(sql, workspaceId, each.senderId)
    if (sender) found.push(sender)
  }
  return found
}

async function bulk(sql: Sql, { senders, books, tally, ...simulated }: Simulated): Promise<void> {
  const paced = simulated.campaign.followPace && senders[0]!.pace !== null
  const { expired } = await simulateBulk(sql, { ...simulated, sender: books[0]!, paced })
  tally.expired += expired
}

async function walks(sql: Sql, simulated: Simulated, sequenceId: string): Promise<void> {
  const { campaign, senders, books, calendar, startAt, tally, slices } = simulated
  const graph = await findGraph(sql, campaign, sequenceId)
  const awake = books.filter((_, i) => senders[i]!.pausedReason === null)
  const random = seededDice(campaign.id)
  const forNewcomers = awake.length > 0 ? awake : books
  const simulation = openWalkSimulation({ graph, campaign, senders: forNewcomers, calendar, random })
  const onPeople = await followPeople(sql, simulated)
  if (campaign.status !== 'draft') await takeUp(sql, simulated, simulation, { graph, random, onPeople })
  // What should have happened by now comes before anybody new.
  await finish(simulation, startAt, slices)
  const lists =
    campaign.status === 'draft'
      ? [{ listId: campaign.listId, lastCursor: null }]
      : await readUnreadLists(sql, campaign.id)
  for (const [place, list] of lists.entries())
    await enrollList(sql, { ...simulated, sequenceId, list, before: lists.slice(0, place), simulation, onPeople })
  await finish(simulation, calendar.until, slices)
  Object.assign(tally, simulation.tally)
}

/** A draft has the newest version, as a launch would give it. */
async function findGraph(sql: Sql, { workspaceId, sequenceVersion }: Campaign, id: string): Promise<SequenceGraph> {
  const graph =
    sequenceVersion === null
      ? (await findSequence(sql, workspaceId, id))?.graph
      : await findSequenceGraph(sql, workspaceId, id, sequenceVersion)
  if (!graph) throw new PostriderError('campaign_not_ready', 'The sequence of the campaign was removed.')
  return graph
}

/** Most of the time goes to the people one by one, and the rest to what comes to those who wait. */
const PEOPLE_PART = 0.9

/** Tells how far it is by how many people were looked at. */
async function followPeople(sql: Sql, { campaign, onPart }: Simulated): Promise<(people: number) => void> {
  const all = await countPeopleAhead(sql, campaign)
  let seen = 0
  return (people) => {
    seen += people
    onPart(all === 0 ? PEOPLE_PART : (PEOPLE_PART * seen) / all)
  }
}

/** Of those under way, read at a time: what is read is taken apart in one go. */
const PAGE = 200

async function takeUp(
  sql: Sql,
  { campaign, books, calendar, tally, slices }: Simulated,
  simulation: WalkSimulation,
  {
    graph,
    random,
    onPeople,
  }: {
    readonly graph: SequenceGraph
    readonly random: () => number
    readonly onPeople: (people: number) => void
  },
): Promise<void> {
  const senders = new Map(books.map((sender) => [sender.id, sender]))
  const hears = graph.nodes.some(({ type }) => type === 'branch' || type === 'wait_for')
  const of = { campaignId: campaign.id, listId: campaign.listId }
  for (let after: string | undefined; ;) {
    const page = await readOpenWalks(sql, campaign.workspaceId, of, { after, limit: PAGE })
    const events = hears ? await readEventsOf(sql, campaign.workspaceId, page) : new Map<string, HeardEvent[]>()
    for (const open of page) {
      const standing = takeUpWalk(open, events.get(open.contactId) ?? [], { simulation, calendar, senders, random })
      if (standing) tally[standing]++
      if (slices.isOver()) await slices.rest()
    }
    onPeople(page.length)
    if (page.length < PAGE) return
    after = page.at(-1)!.id
  }
}

/** People one turn enrolls together (run-enroll-turn): it matters to who gets which slot. */
const MEMBERS = 10 * TURN

async function enrollList(
  sql: Sql,
  enrolling: Pick<Simulated, 'campaign' | 'startAt' | 'slices'> & {
    readonly sequenceId: string
    readonly list: CampaignList
    readonly before: readonly CampaignList[]
    readonly simulation: WalkSimulation
    readonly onPeople: (people: number) => void
  },
): Promise<void> {
  const { campaign, sequenceId, list, before, simulation, startAt, slices, onPeople } = enrolling
  const reading = { ownListId: campaign.listId, limit: MEMBERS }
  for (let { lastCursor } = list; ;) {
    const page = await readMembers(sql, campaign.workspaceId, { ...list, lastCursor }, reading)
    const ids = page.map(({ id }) => id)
    const known = ids.length === 0 ? new Set() : await findEnrolledBefore(sql, sequenceId, ids, before)
    const people = page.map((person) => ({ ...person, enrolledBefore: known.has(person.id) }))
    for (let place = 0; place < people.length; place += TURN) {
      simulation.enroll(people.slice(place, place + TURN), startAt)
      if (slices.isOver()) await slices.rest()
    }
    onPeople(page.length)
    if (page.length < MEMBERS) return
    lastCursor = ids.at(-1)!
  }
}

/** Steps between two looks at the clock. */
const STEPS = 50

async function finish(simulation: WalkSimulation, until: number, slices: Slices): Promise<void> {
  while (simulation.run(until, STEPS)) if (slices.isOver()) await slices.rest()
}
