import { customType, integer, primaryKey, text, uuid } from 'drizzle-orm/pg-core'
import { messages } from './messages.js'
import { postrider } from './postrider.js'

const bytes = customType<{ data: Buffer }>({ dataType: () => 'bytea' })

/** Beside the messages, so that lists and sends without attachments never read them. */
export const attachments = postrider.table(
  'attachments',
  {
    messageId: uuid('message_id')
      .notNull()
      .references(() => messages.id, { onDelete: 'cascade' }),
    position: integer('position').notNull(),
    filename: text('filename').notNull(),
    contentType: text('content_type').notNull(),
    contentId: text('content_id'),
    content: bytes('content').notNull(),
  },
  (table) => [primaryKey({ columns: [table.messageId, table.position] })],
)
