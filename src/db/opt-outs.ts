import type { Sql } from './client.js'

/** Who does not want a list's mail any more. Only what somebody said writes here; nothing that adds people does. */
export interface OptOut {
  readonly listId: string
  readonly foldedAddress: string
}

/** How it was said: by the link in a mail, by the mail program's button, by somebody here. */
export const OPT_OUT_SOURCES = ['link', 'one_click', 'manual'] as const
export type OptOutSource = (typeof OPT_OUT_SOURCES)[number]

/** False when the address had opted out before; how it was said first stays. */
export async function insertOptOut(
  sql: Sql,
  listId: string,
  foldedAddress: string,
  source: OptOutSource,
): Promise<boolean> {
  const { rowCount } = await sql.query(
    `insert into postrider.opt_outs (list_id, address, source, created_at) values ($1, $2, $3, ${sql.now})
     on conflict do nothing`,
    [listId, foldedAddress, source],
  )
  return rowCount === 1
}

/** False when the address had not opted out. */
export async function deleteOptOut(sql: Sql, listId: string, foldedAddress: string): Promise<boolean> {
  const { rowCount } = await sql.query(`delete from postrider.opt_outs where list_id = $1 and address = $2`, [
    listId,
    foldedAddress,
  ])
  return rowCount === 1
}

/** Those of the pairs that have opted out. */
export async function findOptOuts(sql: Sql, pairs: readonly OptOut[]): Promise<OptOut[]> {
  const { rows } = await sql.query<OptOut>(
    `select list_id as "listId", address as "foldedAddress" from postrider.opt_outs
     where (list_id, address) in (select * from unnest($1::uuid[], $2::text[]))`,
    [pairs.map(({ listId }) => listId), pairs.map(({ foldedAddress }) => foldedAddress)],
  )
  return rows
}

/**
 * A person has another address now: what was ended under the old one is ended under the new one too, in every list of
 * the workspace. Suppressions go along unless they are about the mailbox: one that bounced says nothing of another.
 */
export async function carryOptOuts(
  sql: Sql,
  workspaceId: string,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<void> {
  await sql.query(
    `insert into postrider.opt_outs (list_id, address, source, created_at)
     select list_id, $3, source, opt_outs.created_at from postrider.opt_outs
       join postrider.lists on lists.id = list_id and lists.workspace_id = $1
     where address = $2 on conflict do nothing`,
    [workspaceId, from, to],
  )
  await sql.query(
    `insert into postrider.suppressions (workspace_id, address, scope, reason, detail, created_at)
     select workspace_id, $3, scope, reason, detail, created_at from postrider.suppressions
     where workspace_id = $1 and address = $2 and reason <> 'hard_bounce' on conflict do nothing`,
    [workspaceId, from, to],
  )
}
