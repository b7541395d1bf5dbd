import type { DeliveryState, Email } from '../db/emails.js'
import type { Sender } from '../db/senders.js'
import { type EmailWalk, explainEmail } from '../domain/explain-email.js'

/** What an email waits for beside its own time. */
export interface About {
  readonly sender: Sender | null
  readonly walk: EmailWalk | null
}

/** Of one recipient: where it is, why, and what comes next. */
export const explainDelivery = (email: Email, delivery: DeliveryState, { sender, walk }: About): string =>
  explainEmail({
    ...delivery,
    expiresAt: email.expiresAt,
    senderPausedReason: sender?.pausedReason ?? null,
    walk,
    now: email.now,
  })
