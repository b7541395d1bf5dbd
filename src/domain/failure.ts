/**
 * How far a conversation with a mail server came. `body` begins with the first byte after 354: from there on a silence
 * cannot be decided. `reply` is after the final dot.
 */
export const PHASES = ['connect', 'greeting', 'tls', 'auth', 'mail', 'rcpt', 'data', 'body', 'reply'] as const
export type Phase = (typeof PHASES)[number]

/** What a failure means for the email, its sender and its recipient. */
export const FAILURE_CLASSES = ['transient', 'throttled', 'recipient', 'sender', 'message', 'undecidable'] as const
export type FailureClass = (typeof FAILURE_CLASSES)[number]

/** What an attempt saw: facts only, kept for ever beside the email. */
export interface Evidence {
  readonly phase: Phase
  /** The SMTP reply code of the last answer that mattered. */
  readonly code: number | null
  /** RFC 3463, such as 5.1.1. */
  readonly enhancedCode: string | null
  /** The server's words, or what happened to the connection in ours. */
  readonly reply: string
  /** Host and port, as connected to. */
  readonly remoteHost: string | null
  readonly durationMs: number
}
