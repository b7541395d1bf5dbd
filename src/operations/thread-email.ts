import type { EnrollmentEmail } from '../db/enrollment-emails.js'
import type { Enrollment } from '../db/enrollments.js'
import type { StepContent } from '../db/step-content.js'
import type { Message } from '../domain/message.js'

/**
 * Makes a follow-up part of the thread of the emails before it: it answers to the last one that went out, and names all
 * since the first (RFC 5322 3.6.4). Its subject is that of the first with "Re:", unless its node has one of its own.
 */
export function threadEmail(
  message: Message,
  content: Pick<StepContent, 'reply' | 'ownSubject'>,
  { threadId, threadSubject }: Pick<Enrollment, 'threadId' | 'threadSubject'>,
  earlier: readonly Pick<EnrollmentEmail, 'id' | 'state'>[],
): Message {
  if (!content.reply || threadId === null) return message
  const domain = message.messageId.slice(message.messageId.lastIndexOf('@'))
  const first = earlier.findIndex(({ id }) => id === threadId)
  const thread = (first === -1 ? [] : earlier.slice(first))
    .filter(({ state }) => state === 'done')
    .map(({ id }) => `<${id}${domain}`)
  const last = thread.at(-1)
  if (last === undefined) return message
  const subject = content.ownSubject === null && threadSubject !== null ? answerTo(threadSubject) : message.subject
  const headers = { ...message.headers, 'In-Reply-To': last, References: thread.slice(-MOST_REFERENCES).join(' ') }
  return { ...message, subject, headers }
}

/** More would only make the header long: programs look at the last. */
const MOST_REFERENCES = 20

const answerTo = (subject: string) => (/^re:/i.test(subject) ? subject : `Re: ${subject}`)
