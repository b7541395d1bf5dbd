import { listSenders, setConfiguredProvider, upsertConfiguredSender } from '../db/senders.js'
import { foldAddress } from '../domain/address.js'
import type { Mailbox } from '../domain/message.js'
import { DEFAULT_SENDER, DEFAULT_WORKSPACE, newId } from '../id.js'
import type { Context } from './context.js'

export type ConfiguredSender = Mailbox & { readonly provider: 'smtp' | 'capture' }

/** Makes the sender of the settings in a workspace that has none. */
export async function ensureConfiguredSender(
  context: Context,
  workspaceId: string,
  sender: ConfiguredSender,
): Promise<void> {
  const senders = await listSenders(context.db, workspaceId)
  if (senders.length === 0) await writeConfiguredSender(context, workspaceId, sender)
}

/**
 * Keeps it in step with the settings of a process that sends. Beside others such a process may bring SMTP, but never take
 * it away: one that was started without their SMTP_URL would put real mail into the dev inbox and call it sent. Only the
 * process that has the database for itself may go back to the dev inbox.
 */
export async function followSettings(
  context: Context,
  workspaceId: string,
  sender: ConfiguredSender,
  { alone }: { alone: boolean },
): Promise<void> {
  const senders = await listSenders(context.db, workspaceId)
  const known = senders.find(({ followsSettings }) => followsSettings)
  const folded = foldAddress(sender.address)
  // Somebody made a sender of its own with this address: that one is meant.
  if (!senders.some((other) => other.id !== known?.id && foldAddress(other.address) === folded))
    await writeConfiguredSender(context, workspaceId, sender, known?.id)
  if (sender.provider === 'smtp' || alone) await setConfiguredProvider(context.db, sender.provider)
  context.sendersChanged(workspaceId)
}

async function writeConfiguredSender(
  context: Context,
  workspaceId: string,
  sender: ConfiguredSender,
  knownId?: string,
): Promise<void> {
  const id = knownId ?? (workspaceId === DEFAULT_WORKSPACE ? DEFAULT_SENDER : newId())
  await upsertConfiguredSender(context.db, workspaceId, id, { ...sender, foldedAddress: foldAddress(sender.address) })
  context.sendersChanged(workspaceId)
}
