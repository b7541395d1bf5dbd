import { upsertContacts } from '../../src/db/contacts.js'
import { insertList, joinList } from '../../src/db/lists.js'
import { insertTemplate } from '../../src/db/templates.js'
import type { CampaignCounts } from '../../src/domain/campaign.js'
import { DEFAULT_WORKSPACE, newId, type PostriderOptions } from '../../src/index.js'
import { type CampaignInput, createCampaign } from '../../src/operations/campaigns.js'
import { launchCampaign } from '../../src/operations/launch-campaign.js'
import { type CampaignProgress, readCampaignProgress } from '../../src/operations/read-campaign.js'
import { type MailFixture, openMail } from '../sending/mail-fixture.js'
import type { DatabaseKind } from '../support/test-database.js'

/** Lists, templates and campaigns on top of a Postrider that sends to a scripted server. */
export interface CampaignFixture {
  readonly mail: MailFixture
  /** A list with so many people, p0@example.com and on, in the order a campaign comes by. */
  list(people: number): Promise<{ readonly id: string; readonly people: readonly Person[] }>
  template(subject?: string, text?: string): Promise<string>
  draft(listId: string, input?: Partial<CampaignInput>): Promise<string>
  launch(id: string): Promise<void>
  progress(id: string): Promise<CampaignProgress>
  /** Who got mail, in order, each as often as it came. */
  received(): string[]
  /** The emails of a campaign by state, counted one by one. */
  states(id: string): Promise<Record<string, number>>
}

export interface Person {
  readonly id: string
  readonly address: string
}

export const WORKSPACE = DEFAULT_WORKSPACE

export function openCampaigns(kind: DatabaseKind, options: PostriderOptions = {}): CampaignFixture {
  const mail = openMail(kind, options)
  const db = () => mail.mail.context.db
  const fixture: CampaignFixture = {
    mail,
    async list(people) {
      const id = newId()
      await insertList(db(), WORKSPACE, id, { name: `List ${id}`, description: null })
      const rows = Array.from({ length: people }, (_, i) => ({
        address: `p${i}@example.com`,
        foldedAddress: `p${i}@example.com`,
        name: `Person ${i}`,
        attributes: {},
        timezone: null,
      }))
      const contacts = await upsertContacts(db(), WORKSPACE, rows)
      await joinList(
        db(),
        id,
        contacts.map((contact) => contact.id),
      )
      const inOrder = contacts.toSorted((a, b) => (a.id < b.id ? -1 : 1))
      return { id, people: inOrder.map((contact) => ({ id: contact.id, address: contact.foldedAddress })) }
    },
    async template(subject = 'Hello {{ contact.name }}', text = 'Hello {{ contact.name }}.') {
      const id = newId()
      await insertTemplate(db(), WORKSPACE, id, `Template ${id}`, { subject, text, html: null })
      return id
    },
    async draft(listId, input = {}) {
      const templateId = input.templateId ?? (await fixture.template())
      const made = await createCampaign(mail.mail.context, WORKSPACE, {
        name: 'News',
        listId,
        batchSize: 10,
        ...input,
        templateId,
      })
      return made.id
    },
    async launch(id) {
      await launchCampaign(mail.mail.context, WORKSPACE, id)
    },
    progress: (id) => readCampaignProgress(mail.mail.context, WORKSPACE, id),
    received: () => mail.server.taken.map(({ rcpt }) => /<(.*)>/.exec(rcpt)![1]!),
    async states(id) {
      const { rows } = await db().query<{ state: string; count: number }>(
        `select state, count(*)::int as count from postrider.scheduled_actions
         where lane_id = $1 and type = 'send' group by state`,
        [id],
      )
      return Object.fromEntries(rows.map(({ state, count }) => [state, count]))
    },
  }
  return fixture
}

/** All but the audience, which they must add up to. */
export const sumOf = (counts: CampaignCounts): number =>
  Object.values(counts).reduce((sum, count) => sum + count, -counts.audience)

export const addresses = (people: number) => Array.from({ length: people }, (_, i) => `p${i}@example.com`)
