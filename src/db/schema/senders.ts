import { sql } from 'drizzle-orm'
import { boolean, check, date, integer, jsonb, text, timestamp, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import { postrider } from './postrider.js'
import { workspaces } from './workspaces.js'

/**
 * Who mail goes out as. The single emails of a sender are one lane, and the lane has the sender's id: pausing or slowing
 * a sender is then one row, however many emails wait.
 */
export const senders = postrider.table(
  'senders',
  {
    id: uuid('id').primaryKey(),
    workspaceId: uuid('workspace_id')
      .notNull()
      .references(() => workspaces.id),
    name: text('name'),
    address: text('address').notNull(),
    /** The address in the form addresses are compared in. */
    foldedAddress: text('folded_address').notNull(),
    provider: text('provider', { enum: ['smtp', 'capture'] }).notNull(),
    /** Encrypted; null: the provider of the settings (SMTP_URL, or the dev inbox). */
    credentials: text('credentials'),
    /** The sender of the settings: MAIL_FROM and SMTP_URL say who it is and how its mail goes out. */
    followsSettings: boolean('follows_settings').notNull().default(false),
    isDefault: boolean('is_default').notNull().default(false),
    pausedAt: timestamp('paused_at', { withTimezone: true }),
    pausedCode: text('paused_code'),
    pausedReason: text('paused_reason'),
    /** Throttled answers in a row: each doubles the time the sender is held back. */
    throttles: integer('throttles').notNull().default(0),
    /** Timezone, days, hours, quota, ramp-up, gap; null: at any time, as much as there is. */
    pace: jsonb('pace'),
    /** The first day of the ramp-up, in the pace's timezone. */
    rampUpFrom: date('ramp_up_from', { mode: 'string' }),
    /** When it last began or ended to hand over an email that keeps a gap. */
    turnAt: timestamp('turn_at', { withTimezone: true }),
    createdAt: timestamp('created_at', { withTimezone: true }).notNull().defaultNow(),
    updatedAt: timestamp('updated_at', { withTimezone: true }).notNull().defaultNow(),
  },
  (table) => [
    uniqueIndex('senders_address').on(table.workspaceId, table.foldedAddress),
    uniqueIndex('senders_default')
      .on(table.workspaceId)
      .where(sql`is_default`),
    check('senders_settings', sql`not follows_settings or credentials is null`),
    check('senders_provider', sql`provider in ('smtp', 'capture')`),
    check('senders_paused', sql`(paused_at is null) = (paused_reason is null)`),
    check('senders_throttles', sql`throttles >= 0`),
  ],
)
