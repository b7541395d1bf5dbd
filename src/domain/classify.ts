/**
 * What a failed conversation means. Three questions in this order: could the server have taken the message without
 * telling us; does it ask us to slow down; and whose fault is it. The reply code decides the class of answer (4 or 5),
 * the enhanced code its subject, and words only where servers are known to say more in words than in codes.
 */
import type { Evidence, FailureClass, Phase } from './failure.js'
import { findRetryHintMs } from './retry-hint.js'

/** A code of null is no reply: a drop, a reset, a timeout or bytes that are not SMTP. */
export type FailureSigns = Pick<Evidence, 'phase' | 'code' | 'enhancedCode' | 'reply'>

export interface Classified {
  readonly failure: FailureClass
  readonly retryAfterMs?: number
}

/** What we refuse by ourselves, before any server could. */
export const LOCAL_REFUSALS = {
  /** Credentials are set and the server offers no way to use them. */
  authentication_not_offered: 'sender',
  /** A misconfiguration or an attack: never go on in clear, and never fail an email for good over it. */
  encryption_unavailable: 'transient',
  /** Larger than the size the server announced. */
  message_too_large: 'message',
  /** An address that cannot be written into the envelope, or that this server cannot carry. */
  address_unusable: 'message',
  /** The DKIM key cannot sign: every message of this sender would meet it. */
  signing_impossible: 'sender',
} as const satisfies Record<string, FailureClass>
export type LocalRefusal = keyof typeof LOCAL_REFUSALS

export function classifyFailure(signs: FailureSigns): Classified {
  const failure = decideClass(signs)
  if (failure !== 'transient' && failure !== 'throttled') return { failure }
  const retryAfterMs = signs.code === null ? null : findRetryHintMs(signs.reply)
  return retryAfterMs === null ? { failure } : { failure, retryAfterMs }
}

function decideClass({ phase, code, enhancedCode, reply }: FailureSigns): FailureClass {
  // Neither a 4xx nor a 5xx: no reply at all, or one that makes no sense here. After the first byte of the body nobody
  // can tell what became of it.
  if (code === null || code < 400 || code > 599) return isHandedOver(phase) ? 'undecidable' : 'transient'
  const subject = subjectOf(code, enhancedCode)
  if (isThrottling(code, subject, reply)) return 'throttled'
  if (code < 500) return 'transient'
  // A 5xx before authentication speaks of the connection, not of an email: a blocked address, a host that takes no
  // mail, a proxy in the way. It would be the same for every email, so none may fail for good over it; one that stays
  // is ended by the retry policy. The same goes for STARTTLS refused.
  if (phase === 'connect' || phase === 'greeting' || phase === 'tls') return 'transient'
  if (isSenderRefused(phase, code, subject, reply)) return 'sender'
  return isRecipientRefused(phase, code, subject, reply) ? 'recipient' : 'message'
}

function isHandedOver(phase: Phase): boolean {
  return phase === 'body' || phase === 'reply'
}

/** The subject and detail of RFC 3463, such as `1.1` of 5.1.1; empty when absent or at odds with the reply code. */
function subjectOf(code: number, enhancedCode: string | null): string {
  const match = /^([245])\.(\d{1,3}\.\d{1,3})$/.exec(enhancedCode ?? '')
  return match && Number(match[1]) === Math.trunc(code / 100) ? match[2]! : ''
}

const RATE_WORDS =
  /\brate[- ]?limit|\b(?:sending|message|mail|connection|maximum)[ -]?rates?\b|\bthrottl|\btoo (?:many|much) (?:\w+ )?(?:connections?|messages?|mails?|e-?mails?|sessions?|requests?|recipients this|concurrent|simultaneous|logins?|auth\w*|attempts|commands)\b|\btoo (?:quickly|fast|frequent)|\b(?:concurrent|simultaneous|parallel) (?:\w+ )?(?:connections?|sessions?|limit)|\b(?:unexpected|high) volume\b|\bunusual rate\b|\bat a rate\b|\bslow(?:ing)? down\b|\b(?:limits?|quota|messages) (?:\w+ ){0,8}per (?:second|minute|hour|day)\b|\b(?:hourly|daily) (?:\w+ ){0,3}(?:limit|quota)|\bconnection limit|\bsend(?:ing)? (?:limit|quota)|\bmaximum (?:number of )?connections\b/i

/**
 * Subjects that mean a rate whatever the words: Google's 4.7.28, Microsoft's 4.7.500 to 4.7.699 ("server busy", "rate
 * limited due to IP reputation"). Not 4.3.2: "system not accepting messages" is also what a server says that restarts.
 */
const RATE_SUBJECT = /^7\.(?:28|[56]\d\d)$/

/** A sender's own allowance used up, which some say with a 5xx although tomorrow is fine: Google 5.4.5, Microsoft 5.1.90. */
const ALLOWANCE_WORDS = /\b(?:daily|hourly) (?:\w+ ){0,3}(?:limit|quota)|\bsending (?:limit|quota|rate)\b/i

function isThrottling(code: number, subject: string, reply: string): boolean {
  if (code === 429) return true
  // x.2.x is about the recipient's mailbox: its own rate or quota is no reason to slow the sender for everybody else.
  if (subject.startsWith('2.')) return false
  if (code < 500) return RATE_SUBJECT.test(subject) || RATE_WORDS.test(reply)
  return subject === '4.5' || subject === '1.90' || ALLOWANCE_WORDS.test(reply)
}

/** Not authenticated, not allowed to use this address, or blocked as a sender: true for every email that follows. */
const SENDER_WORDS =
  /\bauthentication (?:is )?required|\bnot (?:yet )?(?:authenticated|logged in|owned by)|\bsend[ -]?as\b|\bsendasdenied|\brelay(?:ing)? (?:access )?(?:is )?(?:denied|not permitted|not allowed|prohibited)|\bunable to relay|\bnot (?:permitted|allowed|authori[sz]ed) to (?:relay|send)|\bidentities failed the check|\baddress (?:is )?not verified/i

/**
 * Microsoft's: 7.57 client not authenticated, 7.60 and 2.252 may not send as, 7.501 to 7.503 and 7.705, 7.708 account or
 * tenant blocked. RFC 3463's 1.7 and 1.8 are the sender's address, although 1.x is otherwise the recipient's; RFC 4954's
 * 7.8, 7.9 and 7.11 are authentication.
 */
const SENDER_SUBJECTS = /^(?:1\.[78]|2\.252|7\.(?:8|9|11|57|60|139|50[123]|705|708))$/

function isSenderRefused(phase: Phase, code: number, subject: string, reply: string): boolean {
  // Whatever AUTH is answered with, the credentials do not work here: 535, but also 504 for a method it does not know.
  if (phase === 'auth' || code === 530 || code === 534 || code === 535 || code === 538) return true
  if (SENDER_SUBJECTS.test(subject)) return true
  // At MAIL an address was refused, and it was not the recipient's.
  if (phase === 'mail' && (subject.startsWith('1.') || code === 553)) return true
  return SENDER_WORDS.test(reply)
}

/** A mailbox that is not there, or will never take mail. A full one (2.2) may take mail tomorrow: nobody is suppressed. */
const RECIPIENT_WORDS =
  /\b(?:user|mailbox|recipient|account|address|alias)\b.{0,80}?(?:\bunknown|\bnot (?:found|exist|available|known)|doesn'?t (?:exist|have)|does not exist|\bno longer|\bdisabled|\bunavailable|\binactive|\binvalid|\bblacklisted)|\b(?:no such|unknown|invalid|unrouteable) (?:\w+ )?(?:user|mailbox|recipient|address|account|person)|\bno mailbox\b|\brecipient address rejected\b/i

const POLICY_WORDS =
  /\bspam|\bpolicy\b|\bblock(?:ed|list)|\bblack ?list(?!ed\.?$)|\breputation|\bspf\b|\bdkim\b|\bdmarc\b|\bphish|\bvirus|\bmalware|\bcontent|\bspamhaus|\brbl\b|\bdnsbl\b|\bunsolicited|\baccess denied|\bsender\b/i

function isRecipientRefused(phase: Phase, code: number, subject: string, reply: string): boolean {
  if (phase === 'mail') return false
  if (subject.startsWith('1.') || subject === '2.1') return true
  // Exchange Online refuses a recipient its directory does not list in these words, under a routing subject.
  if (subject === '4.1') return RECIPIENT_WORDS.test(reply)
  if (subject !== '' && subject !== '0.0' && subject !== '2.0' && subject !== '5.0') return false
  if (POLICY_WORDS.test(reply)) return false
  // Without a telling subject: at RCPT the codes for an address are about this recipient, later only plain words are.
  if (phase === 'rcpt' && (code === 550 || code === 551 || code === 553)) return true
  return RECIPIENT_WORDS.test(reply)
}
