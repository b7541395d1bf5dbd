import { sql } from 'drizzle-orm'
import { boolean, check, index, integer, text, timestamp, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import { ENROLLMENT_STATES } from '../../domain/enrollment.js'
import { campaigns } from './campaigns.js'
import { postrider } from './postrider.js'

const oneOf = (words: readonly string[]) => sql.raw(words.map((word) => `'${word}'`).join(', '))
const instant = (name: string) => timestamp(name, { withTimezone: true, mode: 'date' })

/**
 * One contact walking one sequence version in one campaign. Whoever moves it holds its row; what it will do next are
 * actions that carry its id. The contact may be deleted meanwhile: the walk then stops, and its history stays.
 */
export const enrollments = postrider.table(
  'enrollments',
  {
    id: uuid('id').primaryKey(),
    workspaceId: uuid('workspace_id').notNull(),
    campaignId: uuid('campaign_id')
      .notNull()
      .references(() => campaigns.id),
    sequenceId: uuid('sequence_id').notNull(),
    contactId: uuid('contact_id').notNull(),
    /** As whom all of its emails go out. */
    senderId: uuid('sender_id').notNull(),
    state: text('state', { enum: ENROLLMENT_STATES }).notNull().default('active'),
    /** The node it is on its way to, or has come to; null: the end. The emails in between are planned. */
    nodeId: text('node_id'),
    arrived: boolean('arrived').notNull().default(false),
    /** How often it has moved: part of the keys of its waits and timeouts, so that those of an earlier move say nothing. */
    visit: integer('visit').notNull().default(0),
    /** When it last moved. */
    movedAt: instant('moved_at').notNull(),
    /** Why it stopped. */
    reasonCode: text('reason_code'),
    reason: text('reason'),
    /** The email that began its thread, and the subject that one had. */
    threadId: uuid('thread_id'),
    threadSubject: text('thread_subject'),
    createdAt: instant('created_at').notNull().defaultNow(),
    finishedAt: instant('finished_at'),
  },
  (table) => [
    // Nobody walks a sequence twice, whichever campaigns it is launched in.
    uniqueIndex('enrollments_contact').on(table.contactId, table.sequenceId),
    index('enrollments_campaign').on(table.campaignId, table.id),
    // What is left to do of a campaign, however many have come to the end.
    index('enrollments_open')
      .on(table.campaignId)
      .where(sql`finished_at is null`),
    // Where the people of a campaign are, counted without reading their rows.
    index('enrollments_places').on(table.campaignId, table.nodeId, table.state, table.arrived),
    index('enrollments_newest').on(table.workspaceId, table.id),
    check('enrollments_state', sql`state in (${oneOf(ENROLLMENT_STATES)})`),
    check('enrollments_finished', sql`(state in ('completed', 'stopped')) = (finished_at is not null)`),
    check('enrollments_stopped', sql`(state = 'stopped') = (reason_code is not null)`),
    // One that completed is at the end; one that stopped stays where it was.
    check('enrollments_completed', sql`state <> 'completed' or node_id is null and arrived`),
    check('enrollments_visit', sql`visit >= 0`),
  ],
)
