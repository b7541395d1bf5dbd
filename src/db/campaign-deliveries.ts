import type { Json } from '../domain/action.js'
import type { SuppressionReason } from '../domain/suppression.js'
import type { Sql } from './client.js'
import { findOptOuts } from './opt-outs.js'

/** What is the same for all emails of a launched campaign. It does not change any more. */
export interface LaunchedContent {
  readonly campaignId: string
  readonly workspaceId: string
  readonly campaignName: string
  readonly listId: string
  readonly listName: string
  readonly senderId: string
  readonly fromName: string | null
  readonly fromAddress: string
  readonly replyTo: string | null
  readonly followPace: boolean
  readonly templateId: string
  readonly templateVersion: number
  readonly subject: string
  readonly html: string | null
  readonly text: string | null
}

const CONTENT = `campaigns.id as "campaignId", campaigns.workspace_id as "workspaceId", campaigns.name as "campaignName",
  list_id as "listId", lists.name as "listName", sender_id as "senderId",
  from_name as "fromName", from_address as "fromAddress", reply_to as "replyTo",
  follow_pace as "followPace", versions.template_id as "templateId", versions.version as "templateVersion", subject, html,
  text`

/** Null for a campaign that was never launched. */
export async function findLaunchedContent(
  sql: Sql,
  workspaceId: string,
  campaignId: string,
): Promise<LaunchedContent | null> {
  const { rows } = await sql.query<LaunchedContent>(
    `select ${CONTENT} from postrider.campaigns join postrider.lists on lists.id = list_id
       join postrider.template_versions versions
         on versions.template_id = campaigns.template_id and versions.version = template_version
     where campaigns.workspace_id = $1 and campaigns.id = $2`,
    [workspaceId, campaignId],
  )
  return rows[0] ?? null
}

/** Whom an email of a campaign is for, and whether it may still be sent: asked for many at once, just before the wire. */
export interface RecipientRequest {
  readonly workspaceId: string
  readonly listId: string
  readonly contactId: string
  /** Folded: the address it was planned for. */
  readonly recipient: string
  /** Asked only for campaigns that keep to a pace. */
  readonly actionId: string | null
}

export interface LoadedRecipient {
  /** Null when the contact was deleted. */
  readonly contact: {
    readonly id: string
    readonly name: string | null
    readonly attributes: { readonly [key: string]: Json }
    readonly timezone: string | null
  } | null
  readonly unsubscribed: boolean
  readonly suppressed: SuppressionReason | null
  readonly bookedOn: string | null
}

/** In the order asked. */
export async function loadRecipients(sql: Sql, requests: readonly RecipientRequest[]): Promise<LoadedRecipient[]> {
  const paced = requests.flatMap(({ actionId }) => actionId ?? [])
  const [contacts, optOuts, suppressed, booked] = await Promise.all([
    sql.query<NonNullable<LoadedRecipient['contact']> & { workspaceId: string }>(
      `select id, workspace_id as "workspaceId", name, attributes, timezone from postrider.contacts
       where id = any ($1::uuid[])`,
      [requests.map(({ contactId }) => contactId)],
      { name: 'load contacts' },
    ),
    findOptOuts(
      sql,
      requests.map(({ listId, recipient }) => ({ listId, foldedAddress: recipient })),
    ),
    // Marketing: whatever is suppressed, in whichever scope, is not mailed.
    sql.query<{ workspaceId: string; address: string; reason: SuppressionReason }>(
      `select workspace_id as "workspaceId", address, reason from postrider.suppressions
       where (workspace_id, address) in (select * from unnest($1::uuid[], $2::text[]))`,
      [requests.map(({ workspaceId }) => workspaceId), requests.map(({ recipient }) => recipient)],
      { name: 'find suppressed for marketing' },
    ),
    paced.length === 0
      ? { rows: [] }
      : sql.query<{ id: string; bookedOn: string | null }>(
          `select id, booked_on::text as "bookedOn" from postrider.scheduled_actions where id = any ($1::uuid[])`,
          [paced],
        ),
  ])
  const byId = new Map(contacts.rows.map((contact) => [contact.id, contact]))
  const out = new Set(optOuts.map(({ listId, foldedAddress }) => `${listId} ${foldedAddress}`))
  const banned = new Map(suppressed.rows.map((row) => [`${row.workspaceId} ${row.address}`, row.reason]))
  const days = new Map(booked.rows.map(({ id, bookedOn }) => [id, bookedOn]))
  return requests.map(({ workspaceId, listId, contactId, recipient, actionId }) => {
    const contact = byId.get(contactId)
    return {
      contact: contact?.workspaceId === workspaceId ? contact : null,
      unsubscribed: out.has(`${listId} ${recipient}`),
      suppressed: banned.get(`${workspaceId} ${recipient}`) ?? null,
      bookedOn: (actionId !== null && days.get(actionId)) || null,
    }
  })
}
