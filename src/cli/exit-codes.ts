import { CommanderError } from 'commander'
import { explainForbidden, isDatabaseUnavailable } from '../db/client.js'
import { type ErrorCode, PostriderError } from '../errors.js'
import { CommandError, NOT_FOUND, UNAVAILABLE, USAGE } from './command-error.js'

const FAILURE = 1
const CONFLICT = 4

/**
 * 0 ok, 1 failure, 2 usage, 3 not found, 4 conflict, 5 unavailable: scripts rely on these. Every error code is here, so
 * that a new one does not compile before somebody has thought about it.
 */
const EXIT_CODES: Readonly<Record<ErrorCode, number>> = {
  setting_invalid: USAGE,
  setting_unknown: USAGE,
  database_unavailable: UNAVAILABLE,
  database_unsupported: FAILURE,
  directory_in_use: CONFLICT,
  schema_outdated: CONFLICT,
  schema_newer: CONFLICT,
  migration_edited: CONFLICT,
  transaction_invalid: USAGE,
  action_invalid: USAGE,
  action_not_found: NOT_FOUND,
  action_conflict: CONFLICT,
  lane_invalid: USAGE,
  lane_not_found: NOT_FOUND,
  email_invalid: USAGE,
  email_not_found: NOT_FOUND,
  email_conflict: CONFLICT,
  idempotency_mismatch: CONFLICT,
  idempotency_in_flight: CONFLICT,
  sender_invalid: USAGE,
  sender_not_found: NOT_FOUND,
  sender_conflict: CONFLICT,
  key_invalid: USAGE,
  key_not_found: NOT_FOUND,
  user_invalid: USAGE,
  user_not_found: NOT_FOUND,
  user_conflict: CONFLICT,
  link_invalid: FAILURE,
  password_invalid: USAGE,
  event_invalid: USAGE,
  contact_invalid: USAGE,
  contact_not_found: NOT_FOUND,
  contact_conflict: CONFLICT,
  list_invalid: USAGE,
  list_not_found: NOT_FOUND,
  list_conflict: CONFLICT,
  import_invalid: FAILURE,
  import_not_found: NOT_FOUND,
  template_invalid: USAGE,
  template_not_found: NOT_FOUND,
  template_conflict: CONFLICT,
  sequence_invalid: USAGE,
  sequence_not_found: NOT_FOUND,
  sequence_conflict: CONFLICT,
  campaign_invalid: USAGE,
  campaign_not_found: NOT_FOUND,
  campaign_conflict: CONFLICT,
  campaign_not_ready: FAILURE,
  enrollment_not_found: NOT_FOUND,
  enrollment_conflict: CONFLICT,
  lease_lost: FAILURE,
}

export function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : USAGE
  if (error instanceof CommandError) return error.exitCode
  if (error instanceof PostriderError) return EXIT_CODES[error.code] ?? FAILURE
  return isDatabaseUnavailable(error) || explainForbidden(error) ? UNAVAILABLE : FAILURE
}

const isExpected = (error: unknown) =>
  error instanceof PostriderError ||
  error instanceof CommandError ||
  isDatabaseUnavailable(error) ||
  explainForbidden(error) !== null

/** One sentence for people. The stack of a bug is worth having, but only for whoever asks for it. */
export function reportError(error: unknown): void {
  const message =
    explainForbidden(error) ??
    (error instanceof Error ? error.message || String((error as NodeJS.ErrnoException).code) : String(error))
  process.stderr.write(`postrider: ${message}\n`)
  if (error instanceof Error && !isExpected(error)) {
    if (process.env['LOG_LEVEL'] === 'debug') process.stderr.write(`${error.stack ?? ''}\n`)
    else process.stderr.write('This was not expected. Run again with LOG_LEVEL=debug to see where it happened.\n')
  }
}
