import { loadAttachments } from '../db/deliveries.js'
import { composeMessage } from '../mime/compose-message.js'
import type { Context } from './context.js'
import { readEmail } from './read-emails.js'

/**
 * The bytes of an email as a provider is given them. One of a campaign is rendered as it would be now; one whose bodies
 * retention has taken away is what is left of it. A signature is added on the way and is not in it.
 */
export async function composeEmail(context: Context, workspaceId: string, id: string): Promise<Buffer | null> {
  const email = await readEmail(context, workspaceId, id)
  if (!email) return null
  const files = await loadAttachments(context.db, [id])
  return composeMessage({ ...email, workspaceId, attachments: files.get(id) ?? [] })
}
