import { upsertContacts } from '../../src/db/contacts.js'
import { insertList, joinList } from '../../src/db/lists.js'
import { insertSequence } from '../../src/db/sequences.js'
import { insertTemplate } from '../../src/db/templates.js'
import type { Json } from '../../src/domain/action.js'
import type { PaceInput } from '../../src/domain/read-pace.js'
import type { NodeId, SequenceGraph, SequenceNode } from '../../src/domain/sequence.js'
import { DEFAULT_WORKSPACE, newId } from '../../src/index.js'
import { type CampaignInput, createCampaign } from '../../src/operations/campaigns.js'
import { createSender } from '../../src/operations/senders.js'
import { type CampaignSimulation, simulateCampaign } from '../../src/operations/simulate-campaign.js'
import { type MailFixture, openMail } from '../sending/mail-fixture.js'
import type { DatabaseKind } from '../support/test-database.js'

/** Sequences and their campaigns under a clock that stands still until it is moved, and dice that can be chosen. */
export const WORKSPACE = DEFAULT_WORKSPACE
/** A Tuesday morning. */
export const START = new Date('2026-11-17T08:00:00Z')
export const MINUTE = 60_000
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR

export interface SimulateFixture {
  readonly mail: MailFixture
  dice: () => number
  sender(pace: PaceInput | null): Promise<string>
  /** People with these attributes, on a list of their own. */
  list(
    attributes: readonly Record<string, Json>[],
  ): Promise<{ readonly id: string; readonly people: readonly string[] }>
  sequence(nodes: readonly SequenceNode[]): Promise<string>
  /** A send node of a template of its own. */
  send(id: NodeId, next: NodeId | null, delayMs?: number): Promise<SequenceNode>
  campaign(input: Partial<CampaignInput>): Promise<string>
  look(id: string, input?: { days?: number; limit?: number; timezone?: string }): Promise<CampaignSimulation>
  /** The emails of a campaign as they are in the database, each once, in the order of their time. */
  booked(id: string, at?: 'run_at' | 'state_at'): Promise<Shown[]>
  /** Everything there is in the database, in a few characters per table. */
  fingerprint(): Promise<Record<string, string>>
}

export interface Shown {
  readonly at: string
  readonly contactId: string
  readonly senderId: string
  readonly step: number | null
}

export function openSimulations(kind: DatabaseKind): SimulateFixture {
  const now = `(timestamptz '${START.toISOString()}' + (select shift from public.test_clock))`
  const mail = openMail(kind, { now, random: () => fixture.dice(), batchSize: 10 })
  const context = () => mail.mail.context
  const db = () => context().db
  let made = 0
  const fixture: SimulateFixture = {
    mail,
    dice: () => 0,
    async sender(pace) {
      const address = `sender-${made++}@sender.test`
      return (await createSender(context(), WORKSPACE, { address, provider: 'capture', pace })).id
    },
    async list(attributes) {
      const id = newId()
      await insertList(db(), WORKSPACE, id, { name: `List ${id}`, description: null })
      const rows = attributes.map((each) => {
        const address = `p${made++}@example.com`
        return { address, foldedAddress: address, name: null, attributes: each, timezone: null }
      })
      const people = (await upsertContacts(db(), WORKSPACE, rows)).map((contact) => contact.id)
      await joinList(db(), id, people)
      return { id, people: people.toSorted() }
    },
    async sequence(nodes) {
      const id = newId()
      const graph: SequenceGraph = { start: nodes[0]!.id, nodes }
      await insertSequence(db(), WORKSPACE, id, `Sequence ${id}`, graph)
      return id
    },
    async send(id, next, delayMs = 0) {
      const templateId = newId()
      const content = { subject: `Subject ${id}`, text: 'Hello.', html: null }
      await insertTemplate(db(), WORKSPACE, templateId, `Template ${templateId}`, content)
      return { id, type: 'send', templateId, subject: null, delayMs, reply: false, next }
    },
    async campaign(input) {
      return (await createCampaign(context(), WORKSPACE, { name: 'Walk', ...input })).id
    },
    look: (id, input = {}) => simulateCampaign(context(), WORKSPACE, id, { days: 30, limit: 1_000, ...input }),
    async booked(id, at = 'run_at') {
      const { rows } = await db().query<{ at: Date; contactId: string; senderId: string; step: number | null }>(
        `select ${at} as at, action.contact_id as "contactId", enrollments.sender_id as "senderId", step_number as step
         from postrider.scheduled_actions action
           join postrider.enrollments on enrollments.id = enrollment_id
           join postrider.campaign_steps steps on steps.campaign_id = lane_id and steps.node_id = action.node_id
         where lane_id = $1 and type = 'send'`,
        [id],
      )
      return rows.map((row) => ({ ...row, at: row.at.toISOString() })).toSorted(inTime)
    },
    async fingerprint() {
      const tables = await db().query<{ name: string }>(
        `select tablename as name from pg_tables where schemaname = 'postrider' order by 1`,
      )
      const found: Record<string, string> = {}
      for (const { name } of tables.rows) {
        const { rows } = await db().query<{ print: string }>(
          `select count(*) || ' ' || coalesce(md5(string_agg(row::text, '|' order by row::text)), '') as print
           from postrider.${name} row`,
        )
        found[name] = rows[0]!.print
      }
      return found
    },
  }
  return fixture
}

const inTime = (one: Shown, other: Shown) =>
  one.at.localeCompare(other.at) || one.contactId.localeCompare(other.contactId) || (one.step ?? 0) - (other.step ?? 0)

export const shown = ({ emails }: Pick<CampaignSimulation, 'emails'>): Shown[] =>
  emails
    .map(({ at, contactId, senderId, step }) => ({ at: new Date(at).toISOString(), contactId, senderId, step }))
    .toSorted(inTime)
