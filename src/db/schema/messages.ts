import { sql } from 'drizzle-orm'
import { boolean, check, index, integer, jsonb, text, timestamp, uuid } from 'drizzle-orm/pg-core'
import { ON_UNCERTAIN } from '../../domain/message.js'
import { postrider } from './postrider.js'

const instant = (name: string) => timestamp(name, { withTimezone: true, mode: 'date' })

/**
 * The immutable content of emails. Written once, in the transaction that accepts it; only retention takes the bodies
 * away. What becomes of it is written in its `send` actions, one per envelope recipient.
 */
export const messages = postrider.table(
  'messages',
  {
    id: uuid('id').primaryKey(),
    workspaceId: uuid('workspace_id').notNull(),
    senderId: uuid('sender_id').notNull(),
    /** Message-ID and Date are fixed here, before the first attempt. The id is in it: `<id@domain>` finds its row. */
    messageId: text('message_id').notNull(),
    date: instant('date').notNull(),
    /** `{from, to, cc, bcc, reply_to}`, each a mailbox or a list of them. */
    addressing: jsonb('addressing').notNull(),
    /** Folded envelope addresses, for finding. */
    recipients: text('recipients').array().notNull(),
    subject: text('subject').notNull(),
    html: text('html'),
    text: text('text'),
    headers: jsonb('headers').notNull(),
    tags: jsonb('tags').notNull(),
    calendar: jsonb('calendar'),
    attachmentCount: integer('attachment_count').notNull().default(0),
    inline: boolean('inline').notNull().default(false),
    onUncertain: text('on_uncertain', { enum: ON_UNCERTAIN }).notNull(),
    scheduledAt: instant('scheduled_at'),
    expiresAt: instant('expires_at'),
    createdAt: instant('created_at').notNull(),
  },
  (table) => [
    index('messages_newest').on(table.workspaceId, table.id),
    index('messages_recipients').using('gin', table.recipients),
    check('messages_recipients', sql`cardinality(recipients) > 0`),
    check('messages_on_uncertain', sql`on_uncertain in ('hold', 'resend')`),
  ],
)
