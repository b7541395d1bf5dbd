import type { Attachment, Calendar, Mailbox, Message } from '../domain/message.js'
import type { SuppressionReason } from '../domain/suppression.js'
import type { Sql } from './client.js'

/**
 * What a worker needs to send: the message, whose sender it is, and whether the recipient may be mailed. Asked for many
 * deliveries at once, just before the wire.
 */
export interface DeliveryRequest {
  readonly workspaceId: string
  readonly messageId: string
  /** Folded. */
  readonly recipient: string
}

export interface LoadedMessage {
  readonly message: Message
  readonly senderId: string
  readonly inline: boolean
  readonly suppressed: SuppressionReason | null
}

interface MessageRow {
  id: string
  workspace_id: string
  sender_id: string
  message_id: string
  date: Date
  addressing: { from: Mailbox; to: Mailbox[]; cc: Mailbox[]; bcc: Mailbox[]; reply_to: Mailbox[] }
  subject: string
  html: string | null
  text: string | null
  headers: Record<string, string>
  calendar: Calendar | null
  attachment_count: number
  inline: boolean
  /** The same in every row: why, by workspace and address. */
  suppressed: Readonly<Record<string, SuppressionReason>> | null
}

// A single email is not marketing: only what is suppressed altogether stops it. Asked along with the messages, because
// another round trip for every group of emails costs more than all the rest of this.
const LOAD = `
  select id, workspace_id, sender_id, message_id, date, addressing, subject, html, text, headers, calendar,
    attachment_count, inline, (
      select json_object_agg(workspace_id || ' ' || address, reason) from postrider.suppressions
      where scope = 'all' and (workspace_id, address) in (select * from unnest($2::uuid[], $3::text[]))
    ) as suppressed
  from postrider.messages where id = any ($1::uuid[])`

/** In the order asked; null for a message that is not there any more, or is not light if only those are wanted. */
export async function loadDeliveries(
  sql: Sql,
  requests: readonly DeliveryRequest[],
  { light = false }: { readonly light?: boolean } = {},
): Promise<(LoadedMessage | null)[]> {
  const ids = [...new Set(requests.map(({ messageId }) => messageId))]
  const { rows: found } = await sql.query<MessageRow>(
    LOAD,
    [ids, requests.map(({ workspaceId }) => workspaceId), requests.map(({ recipient }) => recipient)],
    { name: 'load messages' },
  )
  const suppressed = found[0]?.suppressed ?? {}
  const rows = light ? found.filter(({ attachment_count }) => attachment_count === 0) : found
  const withFiles = rows.filter(({ attachment_count }) => attachment_count > 0).map(({ id }) => id)
  const files = withFiles.length > 0 ? await loadAttachments(sql, withFiles) : new Map<string, Attachment[]>()
  const loaded = new Map(rows.map((row) => [row.id, { row, message: toMessage(row, files.get(row.id) ?? []) }]))
  return requests.map(({ workspaceId, messageId, recipient }) => {
    const one = loaded.get(messageId)
    if (!one || one.row.workspace_id !== workspaceId) return null
    const { row, message } = one
    const reason = suppressed[`${workspaceId} ${recipient}`] ?? null
    return { message, senderId: row.sender_id, inline: row.inline, suppressed: reason }
  })
}

const toMessage = (row: MessageRow, attachments: readonly Attachment[]): Message => ({
  id: row.id,
  workspaceId: row.workspace_id,
  messageId: row.message_id,
  date: row.date,
  from: row.addressing.from,
  to: row.addressing.to,
  cc: row.addressing.cc,
  bcc: row.addressing.bcc,
  replyTo: row.addressing.reply_to,
  subject: row.subject,
  html: row.html,
  text: row.text,
  headers: row.headers,
  attachments,
  calendar: row.calendar,
})

/** One file of a message, counted from 0. */
export async function findAttachment(
  sql: Sql,
  workspaceId: string,
  messageId: string,
  place: number,
): Promise<Attachment | null> {
  const { rows } = await sql.query<Attachment>(
    `select filename, content_type as "contentType", content_id as "contentId", content from postrider.attachments
     where message_id = (select id from postrider.messages where workspace_id = $1 and id = $2)
     order by position offset $3 limit 1`,
    [workspaceId, messageId, place],
  )
  return rows[0] ?? null
}

/** By message, in the order they were given. */
export async function loadAttachments(
  sql: Sql,
  messageIds: readonly string[],
): Promise<ReadonlyMap<string, Attachment[]>> {
  const { rows } = await sql.query<Attachment & { messageId: string }>(
    `select message_id as "messageId", filename, content_type as "contentType", content_id as "contentId", content
     from postrider.attachments where message_id = any ($1::uuid[]) order by message_id, position`,
    [messageIds],
  )
  const files = new Map<string, Attachment[]>()
  for (const { messageId, ...file } of rows) files.set(messageId, [...(files.get(messageId) ?? []), file])
  return files
}
