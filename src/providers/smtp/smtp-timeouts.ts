/**
 * How long each step may take from beginning to end. These are deadlines, not idle times: a server that sends a byte now
 * and then does not get more time for it. Short before the dot, where giving up costs nothing but a retry; long after
 * it, where giving up makes the email uncertain.
 */
export interface SmtpTimeouts {
  /** DNS and TCP. */
  readonly connectMs: number
  /** From the connection to the server's 220. Many servers delay it on purpose, to catch spammers. */
  readonly greetingMs: number
  /** Each command before the body, a TLS handshake, and all of authentication. */
  readonly commandMs: number
  /** For each stretch of the body to leave: less, and a slow line cannot carry attachments (RFC 5321, 4.5.3.2.5). */
  readonly bodyMs: number
  /** From the final dot to the reply (RFC 5321, 4.5.3.2.6): servers filter content before they answer. */
  readonly replyMs: number
  /** An unused connection is ended after this; below what servers allow, so that they seldom do it first. */
  readonly idleMs: number
  /** How long this process keeps to fewer connections after a server said they were too many. */
  readonly fewerConnectionsMs: number
}

export const SMTP_TIMEOUTS: SmtpTimeouts = {
  connectMs: 10_000,
  greetingMs: 30_000,
  commandMs: 60_000,
  bodyMs: 180_000,
  replyMs: 600_000,
  idleMs: 10_000,
  fewerConnectionsMs: 60_000,
}
