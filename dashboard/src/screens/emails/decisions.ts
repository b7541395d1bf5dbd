import type { ReactNode } from 'react'
import type { Tone } from '../../ui/button'
import type { EmailStatus } from './email-filter'
import { showNumber } from '../../ui/number'

/** What people decide about emails, in the words of the screens. What is allowed when is the server's to say once more. */
export type Decision = 'retry' | 'dismiss' | 'cancel' | 'reschedule' | 'sent' | 'resend'

interface Rule {
  readonly from: readonly EmailStatus[]
  /** What it is shown as while nobody has answered yet. */
  readonly to: EmailStatus
  /** On menus. */
  readonly label: string
  /** On the button that does it, to so many. */
  readonly button: (emails: string) => string
  readonly title: (emails: string) => string
  /** What will happen, before it does. */
  readonly lead: (isOne: boolean) => ReactNode
  /** When it is done. */
  readonly done: (emails: string) => string
  readonly tone: Tone
}

const WAITING: readonly EmailStatus[] = ['scheduled', 'retry_scheduled']

export const DECISIONS: Readonly<Record<Decision, Rule>> = {
  retry: {
    from: ['failed'],
    to: 'scheduled',
    label: 'Retry',
    button: (emails) => `Retry ${emails}`,
    title: (emails) => `Retry ${emails}?`,
    lead: (isOne) =>
      isOne
        ? 'It starts over with all its attempts, from now. If what made it fail is still so, it fails again.'
        : 'They start over with all their attempts, from now. Those whose cause is still there fail again.',
    done: (emails) => `${emails} due again.`,
    tone: 'primary',
  },
  dismiss: {
    from: ['failed'],
    to: 'dismissed',
    label: 'Dismiss',
    button: (emails) => `Dismiss ${emails}`,
    title: (emails) => `Dismiss ${emails}?`,
    lead: (isOne) =>
      isOne
        ? 'It stays in the history as dismissed and asks for nobody’s attention any more. It cannot be retried after that.'
        : 'They stay in the history as dismissed and ask for nobody’s attention any more. They cannot be retried after that.',
    done: (emails) => `${emails} dismissed.`,
    tone: 'danger',
  },
  cancel: {
    from: WAITING,
    to: 'canceled',
    label: 'Cancel',
    button: (emails) => `Cancel ${emails}`,
    title: (emails) => `Cancel ${emails}?`,
    lead: (isOne) =>
      isOne
        ? 'It will not be sent, and this cannot be undone. If it is being handed over at this moment, that goes on.'
        : 'They will not be sent, and this cannot be undone. What is being handed over at this moment goes on.',
    done: (emails) => `${emails} canceled.`,
    tone: 'danger',
  },
  reschedule: {
    from: WAITING,
    to: 'scheduled',
    label: 'Send at another time',
    button: (emails) => `Reschedule ${emails}`,
    title: (emails) => `Send ${emails} at another time`,
    lead: (isOne) =>
      isOne
        ? 'Not before that time. Its sender’s pace still counts.'
        : 'Not before that time. The pace of their senders still counts.',
    done: (emails) => `${emails} rescheduled.`,
    tone: 'primary',
  },
  sent: {
    from: ['uncertain'],
    to: 'sent',
    label: 'It was sent',
    button: (emails) => `Mark ${emails} as sent`,
    title: (emails) => `Mark ${emails} as sent?`,
    lead: (isOne) =>
      isOne
        ? 'You have found out that it arrived, or you would rather not risk a second copy. Nothing is sent. If it never arrived, nobody will send it.'
        : 'You have found out that they arrived, or you would rather not risk second copies. Nothing is sent. What never arrived, nobody will send.',
    done: (emails) => `${emails} marked as sent.`,
    tone: 'primary',
  },
  resend: {
    from: ['uncertain'],
    to: 'scheduled',
    label: 'Send again',
    button: (emails) => `Send ${emails} again`,
    title: (emails) => `Send ${emails} again?`,
    lead: (isOne) =>
      isOne
        ? 'Nobody knows whether the mail server took it. If it did, the person gets it twice: both copies have the same Message-ID, which some mail servers use to drop the second, and many do not.'
        : 'Nobody knows whether the mail servers took them. Whoever got theirs gets it twice: both copies have the same Message-ID, which some mail servers use to drop the second, and many do not.',
    done: (emails) => `${emails} due again.`,
    tone: 'danger',
  },
}

export const ALL_DECISIONS = Object.keys(DECISIONS) as readonly Decision[]

export const decisionsFor = (status: EmailStatus): readonly Decision[] =>
  ALL_DECISIONS.filter((decision) => DECISIONS[decision].from.includes(status))

export const countEmails = (count: number): string => (count === 1 ? '1 email' : `${showNumber(count)} emails`)
