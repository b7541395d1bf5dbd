import { listSenders, upsertConfiguredSender } from '../db/senders.js'
import { foldAddress } from '../domain/address.js'
import type { Mailbox } from '../domain/message.js'
import { DEFAULT_SENDER, DEFAULT_WORKSPACE, newId } from '../id.js'
import type { Context } from './context.js'

/**
 * Keeps the sender of the settings (MAIL_FROM, SMTP_URL) in the workspace. A process that sends keeps it in step with
 * its settings; one that only asks makes it when there is none, so that a command without the server's settings cannot
 * change who mail comes from.
 */
export async function ensureConfiguredSender(
  context: Context,
  workspaceId: string,
  sender: Mailbox & { readonly provider: 'smtp' | 'capture' },
  { change }: { change: boolean },
): Promise<void> {
  const senders = await listSenders(context.db, workspaceId)
  if (!change && senders.length > 0) return
  const id = workspaceId === DEFAULT_WORKSPACE ? DEFAULT_SENDER : (senders.find(isConfigured)?.id ?? newId())
  const foldedAddress = foldAddress(sender.address)
  // Somebody made a sender of its own with this address: that one is meant.
  if (senders.some((other) => other.id !== id && foldAddress(other.address) === foldedAddress)) return
  await upsertConfiguredSender(context.db, workspaceId, id, { ...sender, foldedAddress })
  context.sendersChanged(workspaceId)
}

const isConfigured = ({ credentials, isDefault }: { credentials: string | null; isDefault: boolean }) =>
  credentials === null && isDefault
