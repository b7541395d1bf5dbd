import { sql } from 'drizzle-orm'
import { boolean, check, foreignKey, index, integer, primaryKey, text, timestamp, uuid } from 'drizzle-orm/pg-core'
import { BATCH_SIZES, CAMPAIGN_STATUSES } from '../../domain/campaign.js'
import { lists } from './lists.js'
import { postrider } from './postrider.js'
import { senders } from './senders.js'
import { sequenceVersions } from './sequences.js'
import { templateVersions } from './templates.js'
import { workspaces } from './workspaces.js'

const oneOf = (words: readonly string[]) => sql.raw(words.map((word) => `'${word}'`).join(', '))
const instant = (name: string) => timestamp(name, { withTimezone: true, mode: 'date' })

/**
 * One launch: of a template at a list (bulk), or of a sequence at the contacts of a list and whoever is enrolled beside
 * them. Its emails are `send` actions in the lane that has its id; who has been planned is
 * everybody on the list up to `last_cursor`. Only its one batch action moves the cursor and the counts, under a lock on
 * this row, so they are never written by two.
 */
export const campaigns = postrider.table(
  'campaigns',
  {
    id: uuid('id').primaryKey(),
    workspaceId: uuid('workspace_id')
      .notNull()
      .references(() => workspaces.id),
    name: text('name').notNull(),
    status: text('status', { enum: CAMPAIGN_STATUSES }).notNull().default('draft'),
    listId: uuid('list_id')
      .notNull()
      .references(() => lists.id),
    /** For a bulk campaign; the emails of a sequence name their own. */
    templateId: uuid('template_id'),
    /** Frozen at launch; before that, the newest is meant. */
    templateVersion: integer('template_version'),
    sequenceId: uuid('sequence_id'),
    /** Frozen at launch, and with it what its emails are made of (campaign_steps). */
    sequenceVersion: integer('sequence_version'),
    /** For a sequence, the first of its senders (campaign_senders). */
    senderId: uuid('sender_id').notNull(),
    /** As whom it goes out, frozen at launch: the Message-ID of its emails, which is theirs for ever, has the domain in it. */
    fromName: text('from_name'),
    fromAddress: text('from_address'),
    replyTo: text('reply_to'),
    batchSize: integer('batch_size').notNull(),
    hourlyLimit: integer('hourly_limit'),
    /** Keep to the sender's window and daily quota. */
    followPace: boolean('follow_pace').notNull().default(false),
    scheduledAt: instant('scheduled_at'),
    /** What has not gone out by then never does. */
    expiresAt: instant('expires_at'),
    lastCursor: uuid('last_cursor'),
    lastBatchAt: instant('last_batch_at'),
    /** When everybody on the list had been looked at. */
    plannedAt: instant('planned_at'),
    planned: integer('planned').notNull().default(0),
    /** Members for whom nothing was planned, because they had opted out of the list, or their address is suppressed. */
    unsubscribed: integer('unsubscribed').notNull().default(0),
    suppressed: integer('suppressed').notNull().default(0),
    /** Members who had walked the sequence before, or walk it in another campaign. */
    enrolledBefore: integer('enrolled_before').notNull().default(0),
    /** How many had gone out a while ago: what the rate is measured from. */
    sampledAt: instant('sampled_at'),
    sampledSent: integer('sampled_sent').notNull().default(0),
    startedAt: instant('started_at'),
    finishedAt: instant('finished_at'),
    createdAt: instant('created_at').notNull().defaultNow(),
    updatedAt: instant('updated_at').notNull().defaultNow(),
  },
  (table) => [
    index('campaigns_newest').on(table.workspaceId, table.id),
    index('campaigns_list').on(table.listId),
    foreignKey({
      name: 'campaigns_template_version',
      columns: [table.templateId, table.templateVersion],
      foreignColumns: [templateVersions.templateId, templateVersions.version],
    }),
    foreignKey({
      name: 'campaigns_sequence_version',
      columns: [table.sequenceId, table.sequenceVersion],
      foreignColumns: [sequenceVersions.sequenceId, sequenceVersions.version],
    }),
    check('campaigns_kind', sql`(template_id is null) <> (sequence_id is null)`),
    check('campaigns_status', sql`status in (${oneOf(CAMPAIGN_STATUSES)})`),
    check('campaigns_batch_size', sql.raw(`batch_size between ${BATCH_SIZES.least} and ${BATCH_SIZES.most}`)),
    check('campaigns_hourly_limit', sql`hourly_limit > 0`),
    check(
      'campaigns_frozen',
      sql`status = 'draft' or ((template_version is not null or sequence_version is not null) and from_address is not null)`,
    ),
    check('campaigns_counts', sql`planned >= 0 and unsubscribed >= 0 and suppressed >= 0 and enrolled_before >= 0`),
    check('campaigns_finished', sql`(status in ('sent', 'canceled')) = (finished_at is not null)`),
  ],
)

/** Who the emails of a sequence's campaign go out as: one of these for all emails to one contact. */
export const campaignSenders = postrider.table(
  'campaign_senders',
  {
    campaignId: uuid('campaign_id')
      .notNull()
      .references(() => campaigns.id, { onDelete: 'cascade' }),
    senderId: uuid('sender_id')
      .notNull()
      .references(() => senders.id),
    /** Frozen at launch. */
    fromName: text('from_name'),
    fromAddress: text('from_address'),
  },
  (table) => [
    primaryKey({ columns: [table.campaignId, table.senderId] }),
    index('campaign_senders_sender').on(table.senderId),
  ],
)

/** What the emails of a sequence's nodes are made of, frozen at launch. */
export const campaignSteps = postrider.table(
  'campaign_steps',
  {
    campaignId: uuid('campaign_id')
      .notNull()
      .references(() => campaigns.id, { onDelete: 'cascade' }),
    nodeId: text('node_id').notNull(),
    stepNumber: integer('step_number').notNull(),
    templateId: uuid('template_id').notNull(),
    templateVersion: integer('template_version').notNull(),
    /** Instead of the template's, if there is one. */
    subject: text('subject'),
    /** It goes on in the thread of the emails before it. */
    reply: boolean('reply').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.campaignId, table.nodeId] }),
    foreignKey({
      name: 'campaign_steps_template_version',
      columns: [table.templateId, table.templateVersion],
      foreignColumns: [templateVersions.templateId, templateVersions.version],
    }),
  ],
)

/** A list whose people are being enrolled, in the order of their ids, up to the cursor. */
export const campaignLists = postrider.table(
  'campaign_lists',
  {
    campaignId: uuid('campaign_id')
      .notNull()
      .references(() => campaigns.id, { onDelete: 'cascade' }),
    listId: uuid('list_id')
      .notNull()
      .references(() => lists.id, { onDelete: 'cascade' }),
    lastCursor: uuid('last_cursor'),
    /** When everybody on it had been looked at. */
    finishedAt: instant('finished_at'),
  },
  (table) => [primaryKey({ columns: [table.campaignId, table.listId] })],
)
