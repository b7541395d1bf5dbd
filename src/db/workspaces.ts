import type { Sql } from './client.js'

export interface Workspace {
  readonly id: string
  readonly name: string
  readonly createdAt: Date
}

const COLUMNS = `id, name, created_at as "createdAt"`

export async function findWorkspaceByName(sql: Sql, name: string): Promise<Workspace | null> {
  const { rows } = await sql.query<Workspace>(`select ${COLUMNS} from postrider.workspaces where name = $1`, [name])
  return rows[0] ?? null
}

/** The one that has the name, made if there was none. */
export async function upsertWorkspace(sql: Sql, id: string, name: string): Promise<Workspace> {
  await sql.query(
    `insert into postrider.workspaces (id, name, created_at) values ($1, $2, ${sql.now}) on conflict (name) do nothing`,
    [id, name],
  )
  return (await findWorkspaceByName(sql, name))!
}

export async function listWorkspaces(sql: Sql): Promise<Workspace[]> {
  return (await sql.query<Workspace>(`select ${COLUMNS} from postrider.workspaces order by name`)).rows
}
