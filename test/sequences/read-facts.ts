import PostalMime from 'postal-mime'
import { readInbox } from '../../src/db/captured-emails.js'
import type { Facts, Mail } from './rules.js'
import { type World, WORKSPACE } from './world.js'

/** An email somebody took, and when by the clock of the world. */
export interface TakenMail {
  readonly at: number
  readonly recipient: string
  readonly raw: Buffer
}

/** All that the rules are checked with: the diary, who walks, and the emails as they arrived. */
export async function readFacts(world: World, elsewhere: readonly TakenMail[] = []): Promise<Facts> {
  const { diary, ground } = world
  const { rows: walks } = await ground.db.query<Facts['walks'][number] & { sequenceId: string; campaignId: string }>(
    `select contacts.folded_address as "to", campaign_id as "campaignId", sequence_id as "sequenceId", attributes, state,
       extract(epoch from enrollments.created_at)::float8 * 1000 as "enrolledAt"
     from postrider.enrollments join postrider.contacts on contacts.id = contact_id`,
  )
  const captured = (await readInbox(ground.db, WORKSPACE)).map((email) => ({
    ...email,
    at: email.capturedAt.getTime(),
  }))
  const mails: Mail[] = []
  for (const taken of [...captured, ...elsewhere]) mails.push(await readMail(taken))
  return {
    ...diary,
    mails,
    walks: walks.map((walk) => {
      const campaign = diary.campaigns.find(({ id }) => id === walk.campaignId)!
      return { ...walk, campaign: campaign.name, sequence: campaign.sequence, enrolledAt: Math.floor(walk.enrolledAt) }
    }),
  }
}

async function readMail({ at, recipient, raw }: TakenMail): Promise<Mail> {
  const parsed = await PostalMime.parse(raw)
  const mark = /\[([^|\]]+)\|([^|\]]+)\|([^|\]]+)\]/.exec(parsed.text ?? '')
  if (!mark) throw new Error(`an email to ${recipient} has no mark: ${parsed.text}`)
  const [, campaign = '', sequence = '', node = ''] = mark
  return {
    at,
    date: Date.parse(parsed.date ?? ''),
    to: recipient,
    from: parsed.from?.address ?? '',
    campaign,
    sequence,
    node,
    subject: parsed.subject ?? '',
    messageId: parsed.messageId ?? '',
    inReplyTo: parsed.inReplyTo ?? null,
    references: parsed.references?.split(/\s+/) ?? [],
  }
}
