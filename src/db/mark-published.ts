import { RELAXED_COMMIT, type Sql } from './client.js'

/**
 * Notes that a broker has confirmed hints, and under which job ids. A row that is gone belongs to a worker that was
 * quicker than this note. Forgotten in a crash, the hints are published once more: a hint too many costs a look.
 */
export async function markPublished(
  sql: Sql,
  hints: readonly { readonly actionId: string; readonly jobId: string }[],
): Promise<void> {
  await sql.query(
    `with ${RELAXED_COMMIT}
     update postrider.published_hints hint set published_at = ${sql.now}, job_id = named.job_id
     from relaxed, unnest($1::uuid[], $2::text[]) as named (action_id, job_id)
     where hint.action_id = named.action_id and published_at is null`,
    [hints.map(({ actionId }) => actionId), hints.map(({ jobId }) => jobId)],
  )
}
