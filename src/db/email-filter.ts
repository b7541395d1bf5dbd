import type { EmailStatus } from '../domain/email-status.js'

/** Which emails somebody wants to see. */
export interface EmailFilter {
  /** One, or any of several. */
  readonly status?: EmailStatus | readonly EmailStatus[]
  readonly campaignId?: string
  readonly senderId?: string
  /** Folded. */
  readonly to?: string
  /** Part of the subject or of an address. */
  readonly q?: string
  /** The code of what happened to it last: `recipient`, `attempts_exhausted`, … */
  readonly reasonCode?: string
  readonly createdAfter?: Date
  readonly createdBefore?: Date
}
