import { sql } from 'drizzle-orm'
import { check, index, text, timestamp, uuid } from 'drizzle-orm/pg-core'
import { DASHBOARD_ROLES } from '../../domain/dashboard-role.js'
import { dashboardUsers } from './dashboard-users.js'
import { postrider } from './postrider.js'
import { workspaces } from './workspaces.js'

const roles = sql.raw(DASHBOARD_ROLES.map((role) => `'${role}'`).join(', '))

/** Only a hash of a session's token is kept: whoever reads this table cannot take over a session. */
export const dashboardSessions = postrider.table(
  'dashboard_sessions',
  {
    tokenHash: text('token_hash').primaryKey(),
    workspaceId: uuid('workspace_id')
      .notNull()
      .references(() => workspaces.id),
    /** Null for who logged in with POSTRIDER_ADMIN_PASSWORD. */
    userId: uuid('user_id').references(() => dashboardUsers.id, { onDelete: 'cascade' }),
    /** Of that password under the session's own token: another password in the settings ends the session. */
    passwordMark: text('password_mark'),
    role: text('role', { enum: DASHBOARD_ROLES }).notNull(),
    name: text('name').notNull(),
    createdAt: timestamp('created_at', { withTimezone: true }).notNull().defaultNow(),
    seenAt: timestamp('seen_at', { withTimezone: true }).notNull().defaultNow(),
    expiresAt: timestamp('expires_at', { withTimezone: true }).notNull(),
    userAgent: text('user_agent'),
  },
  (table) => [
    index('dashboard_sessions_user').on(table.userId),
    check('dashboard_sessions_role', sql`role in (${roles})`),
    check('dashboard_sessions_whose', sql`(user_id is null) = (password_mark is not null)`),
  ],
)
