import { pino } from 'pino'
import { findCapturedEmail } from '../../src/db/captured-emails.js'
import type { Database } from '../../src/db/client.js'
import { upsertContacts } from '../../src/db/contacts.js'
import { insertList, joinList } from '../../src/db/lists.js'
import { findSender } from '../../src/db/senders.js'
import { insertSequence } from '../../src/db/sequences.js'
import { insertTemplate } from '../../src/db/templates.js'
import type { PaceInput } from '../../src/domain/read-pace.js'
import type { SequenceGraph, SequenceNode } from '../../src/domain/sequence.js'
import { createPostrider, DEFAULT_WORKSPACE, newId, type Postrider, type PostriderOptions } from '../../src/index.js'
import { createCampaign } from '../../src/operations/campaigns.js'
import { type Launched, launchCampaign } from '../../src/operations/launch-campaign.js'
import { createSender } from '../../src/operations/senders.js'
import type { CampaignFacts, HeardEvent, Pause, SenderFacts, Stop } from './rules.js'

/**
 * Senders, lists, sequences and campaigns on a database whose clock goes where it is sent: from one instant at which
 * something is due to the next, and the real engine works at each of them. What the test does to the world is written
 * down as it happens, for the rules to be checked against.
 */
export interface Ground {
  readonly location: { readonly databaseUrl: string } | { readonly dataDirectory: string }
  readonly db: Database
  /** The SQL expression of the clock. */
  readonly now: string
  shiftClock(ms: number): Promise<void>
}

export interface Diary {
  readonly senders: (SenderFacts & { readonly id: string })[]
  readonly campaigns: (CampaignFacts & { readonly id: string; readonly sequenceId: string; readonly listId: string })[]
  readonly events: HeardEvent[]
  readonly stops: Stop[]
  readonly pauses: (Pause & { until: number })[]
}

export interface World {
  readonly ground: Ground
  readonly diary: Diary
  /** The first of those who work. */
  readonly mail: Postrider
  now(): number
  /** Puts the clock there. Nothing is done. */
  goTo(at: number): Promise<void>
  /** Everybody works until nothing is due. */
  tick(): Promise<void>
  /** Goes from one due instant to the next, and works at each, until then. Returns how many there were. */
  liveUntil(at: number): Promise<number>
  /** The processes end and begin again, as far as the database can tell. */
  restart(): Promise<void>
  sender(pace: PaceInput, smtpUrl?: string): Promise<string>
  contacts(addresses: readonly string[], attributesOf?: (address: string) => Record<string, string>): Promise<void>
  list(name: string, addresses: readonly string[]): Promise<string>
  sequence(name: string, nodes: readonly NodeSketch[]): Promise<string>
  campaign(sketch: CampaignSketch): Promise<string>
  launch(id: string): Promise<Launched>
  /** The raw email of an action that was captured. */
  raw(actionId: string): Promise<string | null>
  close(): Promise<void>
}

/** A node without its template, which is made for it. */
export type NodeSketch =
  | Exclude<SequenceNode, { type: 'send' }>
  | Omit<Extract<SequenceNode, { type: 'send' }>, 'templateId' | 'subject'>

export interface CampaignSketch {
  readonly name: string
  readonly sequence: string
  readonly list: string
  readonly senders: readonly string[]
}

export const WORKSPACE = DEFAULT_WORKSPACE
export const [SECOND, MINUTE, HOUR, DAY] = [1_000, 60_000, 3_600_000, 86_400_000]
/** What the tests' senders keep to, unless they say otherwise. */
export const OFFICE: PaceInput = { timezone: 'Europe/Paris', sendingDays: [1, 2, 3, 4, 5], startHour: 9, endHour: 17 }
/** What is due is due to the millisecond: a moment later it has begun. */
const A_MOMENT = 2

export async function openWorld(
  ground: Ground,
  { workers = 1, ...options }: PostriderOptions & { readonly workers?: number } = {},
): Promise<World> {
  const { db } = ground
  const create = () =>
    createPostrider({
      ...ground.location,
      attach: true,
      now: ground.now,
      secret: 'a secret of the tests',
      log: pino({ level: 'silent' }),
      mailFrom: { name: 'Tests', address: 'tests@sender.test' },
      ...options,
    })
  const begin = () => Promise.all(Array.from({ length: workers }, create))
  const known = { lists: new Map<string, Known>(), sequences: new Map<string, Known & { graph: SequenceGraph }>() }
  const members = new Map<string, readonly string[]>()
  const diary: Diary = { senders: [], campaigns: [], events: [], stops: [], pauses: [] }
  let mails = await begin()
  const { rows } = await db.query<{ shift: number }>(
    `select extract(epoch from ${ground.now} - now())::float8 * 1000 as shift`,
  )
  let shift = rows[0]!.shift

  const world: World = {
    ground,
    diary,
    get mail() {
      return mails[0]!
    },
    now: () => Date.now() + shift,
    async goTo(at) {
      const by = at - world.now()
      await ground.shiftClock(by)
      shift += by
    },
    async tick() {
      await Promise.all(mails.map((mail) => mail.tick(20_000)))
    },
    async liveUntil(at) {
      for (let instants = 0; ; instants++) {
        const { rows: waiting } = await db.query<{ next: Date | null }>(
          `select min(wake_at) as next from postrider.scheduled_actions where wake_at is not null`,
        )
        const next = waiting[0]!.next?.getTime() ?? Number.POSITIVE_INFINITY
        if (Math.min(at, next) > world.now()) await world.goTo(Math.min(at, next) + A_MOMENT)
        await world.tick()
        if (next > at) return instants
      }
    },
    async restart() {
      await Promise.all(mails.map((mail) => mail.stop()))
      mails = await begin()
    },
    async sender(pace, smtpUrl) {
      const address = `s${diary.senders.length + 1}@sender${diary.senders.length + 1}.test`
      const { context } = world.mail
      const how = smtpUrl === undefined ? { provider: 'capture' as const } : { smtpUrl }
      const { id } = await createSender(context, WORKSPACE, { address, ...how, pace: { ...OFFICE, ...pace } })
      const made = (await findSender(db, WORKSPACE, id))!
      diary.senders.push({ id, address, pace: made.pace!, rampUpFrom: made.rampUpFrom })
      return id
    },
    async contacts(addresses, attributesOf = () => ({})) {
      for (let from = 0; from < addresses.length; from += 1_000)
        await upsertContacts(
          db,
          WORKSPACE,
          addresses.slice(from, from + 1_000).map((address) => ({
            address,
            foldedAddress: address,
            name: null,
            attributes: attributesOf(address),
            timezone: null,
          })),
        )
    },
    async list(name, addresses) {
      const id = newId()
      await insertList(db, WORKSPACE, id, { name, description: null })
      const { rows: found } = await db.query<{ id: string }>(
        `select id from postrider.contacts where folded_address = any ($1::text[])`,
        [addresses],
      )
      await joinList(
        db,
        id,
        found.map((contact) => contact.id),
      )
      known.lists.set(id, { id, name })
      members.set(id, addresses)
      return id
    },
    async sequence(name, sketches) {
      const nodes: SequenceNode[] = []
      for (const sketch of sketches) {
        if (sketch.type !== 'send') {
          nodes.push(sketch)
          continue
        }
        const templateId = newId()
        await insertTemplate(db, WORKSPACE, templateId, `${name} ${sketch.id}`, {
          subject: `${sketch.id} of ${name}`,
          text: `[{{ campaign.name }}|${name}|${sketch.id}]`,
          html: null,
        })
        nodes.push({ ...sketch, templateId, subject: null })
      }
      const id = newId()
      const graph = { start: nodes[0]!.id, nodes }
      await insertSequence(db, WORKSPACE, id, name, graph)
      known.sequences.set(id, { id, name, graph })
      return id
    },
    async campaign({ name, sequence: sequenceId, list: listId, senders: senderIds }) {
      const { id } = await createCampaign(world.mail.context, WORKSPACE, { name, sequenceId, listId, senderIds })
      const { name: sequence, graph } = known.sequences.get(sequenceId)!
      const list = known.lists.get(listId)!.name
      const contacts = members.get(listId)!
      const never = Number.POSITIVE_INFINITY
      diary.campaigns.push({ id, name, sequence, sequenceId, list, listId, graph, contacts, launchedAt: never })
      return id
    },
    async launch(id) {
      const place = diary.campaigns.findIndex((campaign) => campaign.id === id)
      diary.campaigns[place] = { ...diary.campaigns[place]!, launchedAt: world.now() }
      return launchCampaign(world.mail.context, WORKSPACE, id)
    },
    async raw(actionId) {
      return (await findCapturedEmail(db, WORKSPACE, actionId))?.raw.toString('utf8') ?? null
    },
    async close() {
      await Promise.all(mails.map((mail) => mail.stop()))
    },
  }
  return world
}

interface Known {
  readonly id: string
  readonly name: string
}
