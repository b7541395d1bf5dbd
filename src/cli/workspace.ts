import type { Command } from 'commander'
import type { Sql } from '../db/client.js'
import { findWorkspaceByName, listWorkspaces, type Workspace } from '../db/workspaces.js'
import { findClosest } from '../domain/did-you-mean.js'
import { CommandError, NOT_FOUND } from './command-error.js'

export const addWorkspace = (command: Command): Command =>
  command.option('--workspace <name>', 'whose they are', 'default')

export async function getWorkspace(sql: Sql, name: string): Promise<Workspace> {
  const found = await findWorkspaceByName(sql, name)
  if (found) return found
  const names = (await listWorkspaces(sql)).map((each) => each.name)
  const closest = findClosest(name, names)
  throw new CommandError(
    NOT_FOUND,
    `There is no workspace ${JSON.stringify(name)}.${closest ? ` Did you mean ${JSON.stringify(closest)}?` : ' "postrider keys create --workspace" makes one.'}`,
  )
}
