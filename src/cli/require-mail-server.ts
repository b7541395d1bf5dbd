import type { Postrider } from '../postrider.js'
import { findSender } from '../db/senders.js'
import { PostriderError } from '../errors.js'
import { DEFAULT_SENDER, DEFAULT_WORKSPACE } from '../id.js'

/**
 * For a process that sends beside others. One that was started without the SMTP_URL of the others could only leave
 * their mail lying; better to say so at once.
 */
export async function requireMailServer(
  { context }: Pick<Postrider, 'context'>,
  { smtpUrl }: { readonly smtpUrl: string | null },
): Promise<void> {
  if (smtpUrl !== null) return
  const sender = await findSender(context.db, DEFAULT_WORKSPACE, DEFAULT_SENDER)
  if (sender?.provider !== 'smtp' || !sender.followsSettings) return
  throw new PostriderError(
    'setting_invalid',
    'SMTP_URL is not set here, but the mail of this database goes out by SMTP. Set it as for the other processes.',
  )
}
