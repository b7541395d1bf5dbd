import { sql } from 'drizzle-orm'
import { check, text, timestamp, uuid } from 'drizzle-orm/pg-core'
import { DASHBOARD_ROLES } from '../../domain/dashboard-role.js'
import { postrider } from './postrider.js'
import { workspaces } from './workspaces.js'

const roles = sql.raw(DASHBOARD_ROLES.map((role) => `'${role}'`).join(', '))

/** People who log in to the dashboard, each into one workspace. */
export const dashboardUsers = postrider.table(
  'dashboard_users',
  {
    id: uuid('id').primaryKey(),
    workspaceId: uuid('workspace_id')
      .notNull()
      .references(() => workspaces.id),
    /** In lower case; unique everywhere, because it is all that a login asks for. */
    name: text('name').notNull().unique('dashboard_users_name'),
    role: text('role', { enum: DASHBOARD_ROLES }).notNull(),
    /** Null until the first link was used. */
    passwordHash: text('password_hash'),
    createdAt: timestamp('created_at', { withTimezone: true }).notNull().defaultNow(),
    disabledAt: timestamp('disabled_at', { withTimezone: true }),
  },
  () => [
    check('dashboard_users_name_form', sql.raw(`name ~ '^[a-z0-9][a-z0-9._@+-]{0,63}$'`)),
    check('dashboard_users_role', sql`role in (${roles})`),
    // Whoever is let in again chooses a new password.
    check('dashboard_users_disabled', sql`disabled_at is null or password_hash is null`),
  ],
)
