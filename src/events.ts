import type { Json } from './domain/action.js'
import { type ErrorCode, PostriderError } from './errors.js'
import { type IdPrefix, readId, showId } from './id.js'
import type { Context } from './operations/context.js'
import { type NewEvent, recordEvent } from './operations/record-event.js'

/** Events as the library's users meet them. Ids are the ones of the API: `em_…`, `ctc_…`, `evt_…`. */
export interface Events {
  /** Reports what was heard of an email or a contact: it moves or ends the walks of whoever is in a sequence. */
  send(event: SentEvent): Promise<ReceivedEvent>
}

/** About exactly one of `email`, `contactId`, `emailId` and `messageId`. */
export interface SentEvent {
  /** Such as `clicked`, or one of your own. */
  readonly event: string
  /** Your own id of it: told again under it, it counts once. */
  readonly id?: string
  /** The address of a contact. */
  readonly email?: string
  readonly contactId?: string
  readonly emailId?: string
  readonly messageId?: string
  /** Of an email with several recipients, whom it is about. */
  readonly recipient?: string
  readonly payload?: { readonly [key: string]: Json }
}

export interface ReceivedEvent {
  readonly id: string
  /** As it is recorded: a machine's answer is no reply. */
  readonly event: string
  readonly emailId: string | null
  readonly contactId: string | null
  /** It was told before, and nothing happened now. */
  readonly duplicate: boolean
  /** How many uncertain deliveries this settled as sent. */
  readonly settled: number
  /** How many enrollments it moved or stopped. */
  readonly moved: number
}

export function createEvents(context: Context, workspaceId: string): Events {
  return {
    async send({ event: type, email: address, contactId, emailId, messageId, ...rest }) {
      const subjects = { address, contactId, emailId, messageId }
      const named = Object.entries(subjects).filter(([, value]) => value !== undefined)
      if (named.length !== 1)
        throw new PostriderError(
          'event_invalid',
          'An event is about exactly one of email, contactId, emailId and messageId.',
        )
      const about: Pick<NewEvent, keyof typeof subjects> = {
        ...(address !== undefined && { address }),
        ...(contactId !== undefined && { contactId: idOf('ctc', contactId) }),
        ...(emailId !== undefined && { emailId: idOf('em', emailId) }),
        ...(messageId !== undefined && { messageId }),
      }
      const recorded = await recordEvent(context, workspaceId, { type, ...about, ...rest })
      return {
        id: showId('evt', recorded.id),
        event: recorded.type,
        emailId: recorded.emailId && showId('em', recorded.emailId),
        contactId: recorded.contactId && showId('ctc', recorded.contactId),
        duplicate: recorded.duplicate,
        settled: recorded.settled,
        moved: recorded.moved,
      }
    },
  }
}

const NOT_FOUND = { em: 'email_not_found', ctc: 'contact_not_found' } as const satisfies Partial<
  Record<IdPrefix, ErrorCode>
>

function idOf(prefix: keyof typeof NOT_FOUND, id: string): string {
  const known = readId(prefix, id)
  if (known === null) throw new PostriderError(NOT_FOUND[prefix], `There is no ${JSON.stringify(id)}.`)
  return known
}
