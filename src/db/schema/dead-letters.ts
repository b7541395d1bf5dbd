import { timestamp, uuid } from 'drizzle-orm/pg-core'
import { postrider } from './postrider.js'

const instant = (name: string) => timestamp(name, { withTimezone: true })

/** Which failures a broker was told of, for brokers that have a queue for them. Without one it stays empty. */
export const deadLetters = postrider.table('dead_letters', {
  actionId: uuid('action_id').primaryKey(),
  /** Which failure: an action that was retried by a person may fail again. */
  failedAt: instant('failed_at').notNull(),
  queuedAt: instant('queued_at').notNull(),
  publishedAt: instant('published_at'),
})
