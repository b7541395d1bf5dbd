import { text, timestamp, uuid } from 'drizzle-orm/pg-core'
import { postrider } from './postrider.js'

/** Who owns data: the isolation boundary. Every row of everything else names its workspace. */
export const workspaces = postrider.table('workspaces', {
  id: uuid('id').primaryKey(),
  name: text('name').notNull().unique('workspaces_name'),
  createdAt: timestamp('created_at', { withTimezone: true }).notNull().defaultNow(),
})
