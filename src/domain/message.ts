/** A name and an address, apart. The address is as it goes on the wire; the name is any text. */
export interface Mailbox {
  readonly address: string
  readonly name: string | null
}

export interface Attachment {
  readonly filename: string
  readonly contentType: string
  /** Named by `cid:` in the html: an inline image. */
  readonly contentId: string | null
  readonly content: Uint8Array
}

export const CALENDAR_METHODS = ['REQUEST', 'CANCEL'] as const

export interface Calendar {
  readonly method: (typeof CALENDAR_METHODS)[number]
  readonly ics: string
}

/**
 * The immutable content of one email. Everything that identifies it to the world (Message-ID, Date) is fixed when it is
 * accepted and reused by every attempt for ever, so that two copies of one email are always recognisable as one.
 */
export interface Message {
  readonly id: string
  readonly workspaceId: string
  /** With its angle brackets. */
  readonly messageId: string
  readonly date: Date
  readonly from: Mailbox
  readonly to: readonly Mailbox[]
  readonly cc: readonly Mailbox[]
  /** Never in a header. */
  readonly bcc: readonly Mailbox[]
  readonly replyTo: readonly Mailbox[]
  readonly subject: string
  readonly html: string | null
  /** Derived from the html when the message was accepted without one. */
  readonly text: string | null
  /** Custom headers only, already checked: no identity headers, no line breaks. */
  readonly headers: Readonly<Record<string, string>>
  readonly attachments: readonly Attachment[]
  readonly calendar: Calendar | null
}

export const ON_UNCERTAIN = ['hold', 'resend'] as const
export type OnUncertain = (typeof ON_UNCERTAIN)[number]
