import { index, text, timestamp, uuid } from 'drizzle-orm/pg-core'
import { dashboardUsers } from './dashboard-users.js'
import { postrider } from './postrider.js'

/** Links that let a person choose a password, each once. Only a hash of the token is kept. */
export const dashboardLinks = postrider.table(
  'dashboard_links',
  {
    tokenHash: text('token_hash').primaryKey(),
    userId: uuid('user_id')
      .notNull()
      .references(() => dashboardUsers.id, { onDelete: 'cascade' }),
    createdAt: timestamp('created_at', { withTimezone: true }).notNull().defaultNow(),
    expiresAt: timestamp('expires_at', { withTimezone: true }).notNull(),
    usedAt: timestamp('used_at', { withTimezone: true }),
  },
  (table) => [index('dashboard_links_user').on(table.userId)],
)
