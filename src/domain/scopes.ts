/**
 * What an API key may do.
 *   send    accept emails and report events
 *   read    see emails, the outbox, senders, suppressions, the inbox
 *   manage  decide about emails; change senders and suppressions
 *   admin   make and revoke keys
 */
export const SCOPES = ['send', 'read', 'manage', 'admin'] as const
export type Scope = (typeof SCOPES)[number]
