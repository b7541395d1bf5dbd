import type { Sql } from '../db/client.js'
import type { LeasedAction } from '../domain/action.js'
import { runTimeout, runWait } from '../operations/run-timers.js'
import type { WalkOptions } from '../operations/walk-enrollment.js'
import type { EffectHandler } from './handler.js'

/** Walks enrollments on when their time has come: the handlers of `wait` and `timeout` actions. */
export const createWalker = (
  options: WalkOptions,
): { readonly wait: EffectHandler; readonly timeout: EffectHandler } => ({
  wait: timer((tx, action) => runWait(tx, action, options)),
  timeout: timer((tx, action) => runTimeout(tx, action, options)),
})

const timer = (run: (tx: Sql, action: LeasedAction) => Promise<number | null>): EffectHandler => ({
  kind: 'effect',
  retryPolicy: 'standard',
  async apply(action, tx) {
    const waitMs = await run(tx, action)
    return waitMs === null ? { kind: 'done' } : { kind: 'again', waitMs }
  },
})
