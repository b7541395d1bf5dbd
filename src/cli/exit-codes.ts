import { CommanderError } from 'commander'
import { type ErrorCode, PostriderError } from '../errors.js'

/** 0 ok, 1 failure, 2 usage, 3 not found, 4 conflict, 5 unavailable: scripts rely on these. */
const EXIT_CODES: Partial<Record<ErrorCode, number>> = {
  setting_invalid: 2,
  setting_unknown: 2,
  action_not_found: 3,
  action_conflict: 4,
  directory_in_use: 4,
  schema_outdated: 4,
  schema_newer: 4,
  migration_edited: 4,
  database_unavailable: 5,
}

export function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
  return error instanceof PostriderError ? (EXIT_CODES[error.code] ?? 1) : 1
}

/** One sentence for people. The stack of a bug is worth having, but only for whoever asks for it. */
export function reportError(error: unknown): void {
  const message =
    error instanceof Error ? error.message || String((error as NodeJS.ErrnoException).code) : String(error)
  process.stderr.write(`postrider: ${message}\n`)
  if (!(error instanceof PostriderError) && error instanceof Error) {
    if (process.env['LOG_LEVEL'] === 'debug') process.stderr.write(`${error.stack ?? ''}\n`)
    else process.stderr.write('This was not expected. Run again with LOG_LEVEL=debug to see where it happened.\n')
  }
}
