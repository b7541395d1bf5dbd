import type { Sql } from '../db/client.js'
import { type ScheduleResult, scheduleActions as insertActions } from '../db/schedule-actions.js'
import type { NewAction } from '../domain/action.js'
import type { Log } from '../log.js'

/** A statement's size: the parameters of a larger one would sit in memory on both sides for no gain. */
const STATEMENT = 1_000

/**
 * Schedules actions. Keys that are already taken are not an error: the action that has the key is returned, counted and
 * logged. Given more than one statement's worth, pass a transaction if all or nothing is wanted.
 */
export async function scheduleActions(
  { sql, log }: { sql: Sql; log: Log },
  workspaceId: string,
  actions: readonly NewAction[],
): Promise<ScheduleResult> {
  const results: ScheduleResult[] = []
  for (let start = 0; start < actions.length; start += STATEMENT)
    results.push(await insertActions(sql, workspaceId, actions.slice(start, start + STATEMENT)))
  for (const { actions: written } of results)
    for (const { id, dedupeKey, duplicate } of written)
      if (duplicate) log.debug({ action: id, dedupeKey }, 'already scheduled')
  return {
    actions: results.flatMap((result) => result.actions),
    scheduled: results.reduce((sum, { scheduled }) => sum + scheduled, 0),
    duplicates: results.reduce((sum, { duplicates }) => sum + duplicates, 0),
  }
}
