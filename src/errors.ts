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
  action_invalid: 'An action to schedule is not valid.',
  action_not_found: 'There is no such action.',
  action_conflict: 'The action is in a state that does not allow this.',
  lane_invalid: 'A lane has an id, a weight or a priority Postrider cannot use.',
  lane_not_found: 'There is no such lane.',
  lease_lost: 'The lease of an action was lost before its effect could be committed.',
} as const

export type ErrorCode = keyof typeof ERROR_CODES

export class PostriderError extends Error {
  override readonly name = 'PostriderError'

  readonly code: ErrorCode

  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}
