import type { DeliveryState, Email } from '../db/emails.js'
import type { Sender } from '../db/senders.js'
import { explainEmail } from '../domain/explain-email.js'

/** Of one recipient: where it is, why, and what comes next. */
export const explainDelivery = (email: Email, delivery: DeliveryState, sender: Sender | null): string =>
  explainEmail({ ...delivery, senderPausedReason: sender?.pausedReason ?? null, now: email.now })
