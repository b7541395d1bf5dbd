/**
 * Every error a user can meet has a code. Mistakes are thrown as PostriderError with a sentence that says what to do;
 * expected outcomes are returned, and bugs crash.
 */
export const ERROR_CODES = {
  setting_invalid: 'A setting has a value Postrider cannot use.',
  setting_unknown: 'A setting is not one Postrider knows.',
  database_unavailable: 'The database cannot be reached.',
  database_unsupported: 'The database is too old.',
  directory_in_use: 'Another process owns the data directory.',
  schema_outdated: 'The database schema is older than this version of Postrider.',
  schema_newer: 'The database schema is newer than this version of Postrider.',
  migration_edited: 'A migration that was applied differs from the one shipped.',
  transaction_invalid: 'What was given as a transaction is none.',
  action_invalid: 'An action to schedule is not valid.',
  action_not_found: 'There is no such action.',
  action_conflict: 'The action is in a state that does not allow this.',
  lane_invalid: 'A lane has an id, a weight or a priority Postrider cannot use.',
  lane_not_found: 'There is no such lane.',
  email_invalid: 'An email to send is not valid.',
  email_not_found: 'There is no such email.',
  email_conflict: 'The email is in a state that does not allow this.',
  idempotency_mismatch: 'The idempotency key was used before, for something else.',
  idempotency_in_flight: 'The first call with this idempotency key is still under way.',
  sender_invalid: 'A sender is not valid.',
  sender_not_found: 'There is no such sender.',
  sender_conflict: 'Another sender has this address, or this one is still needed.',
  campaign_invalid: 'A campaign is not valid.',
  campaign_not_found: 'There is no such campaign.',
  campaign_conflict: 'The campaign is in a state that does not allow this.',
  enrollment_not_found: 'There is no such enrollment.',
  enrollment_conflict: 'The enrollment is over, and cannot be changed any more.',
  campaign_not_ready: 'The campaign cannot be launched as it is.',
  key_invalid: 'An API key to make is not valid.',
  key_not_found: 'There is no such API key.',
  user_invalid: 'A user of the dashboard is not valid.',
  user_not_found: 'There is no such user of the dashboard.',
  user_conflict: 'Another user has this name, or this one cannot be changed so.',
  link_invalid: 'A link to choose a password was used, has expired or was replaced.',
  password_invalid: 'A password cannot be taken.',
  event_invalid: 'An event is not valid.',
  contact_invalid: 'A contact is not valid.',
  contact_not_found: 'There is no such contact.',
  contact_conflict: 'Another contact has this address.',
  list_invalid: 'A list is not valid.',
  list_not_found: 'There is no such list.',
  list_conflict: 'Another list has this name, or this one is still needed.',
  import_invalid: 'A file to import cannot be read.',
  import_not_found: 'There is no such import.',
  template_invalid: 'A template is not valid.',
  template_not_found: 'There is no such template.',
  template_conflict: 'Another template has this name, or this one is still needed.',
  sequence_invalid: 'A sequence is not valid.',
  sequence_not_found: 'There is no such sequence.',
  sequence_conflict: 'Another sequence has this name, or this one is still needed.',
  lease_lost: 'The lease of an action was lost before its effect could be committed.',
} as const

export type ErrorCode = keyof typeof ERROR_CODES

/** What is wrong where, in the caller's own input. */
export interface Problem {
  readonly path: readonly (string | number)[]
  readonly detail: string
}

export class PostriderError extends Error {
  override readonly name = 'PostriderError'

  readonly code: ErrorCode

  /** For input with parts: every part that is wrong, not only the first. */
  readonly problems: readonly Problem[]

  constructor(code: ErrorCode, message: string, options?: ErrorOptions & { problems?: readonly Problem[] }) {
    super(message, options)
    this.code = code
    this.problems = options?.problems ?? []
  }
}
