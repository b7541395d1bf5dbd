import type { LeasedAction, Outcome } from '../domain/action.js'
import type { Log } from '../log.js'

/** What became of an action, as loud as somebody should hear of it. */
export function logOutcome(log: Log, action: LeasedAction, outcome: Outcome): void {
  // Nearly always that is nobody.
  if ((outcome.kind === 'done' || outcome.kind === 'release') && !log.isLevelEnabled('debug')) return
  const about = { action: action.id, type: action.type, attempt: action.attempts + 1 }
  switch (outcome.kind) {
    case 'done':
    case 'release':
      return log.debug(about, outcome.kind)
    case 'retry':
      return log.info({ ...about, waitMs: outcome.waitMs, reason: outcome.reason.code }, 'retry scheduled')
    case 'skipped':
      return log.info({ ...about, reason: outcome.reason.code }, 'skipped')
    case 'failed':
    case 'uncertain':
      // What a mail server says often repeats whom or what it refuses: that is kept with the attempt, not in a log.
      return log.warn(
        { ...about, reason: outcome.reason.code, ...(!outcome.attempt && { detail: outcome.reason.text }) },
        outcome.kind,
      )
  }
}
