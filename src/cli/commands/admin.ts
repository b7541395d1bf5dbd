import type { Command } from 'commander'
import type { Config } from '../../config.js'
import { type DashboardUser, findDashboardUserByName, listDashboardUsers } from '../../db/dashboard-users.js'
import { DASHBOARD_ROLES } from '../../domain/dashboard-role.js'
import { ADMIN_NAME, foldName } from '../../domain/dashboard-user.js'
import { showId } from '../../id.js'
import { makeLink, setUpUrl } from '../../operations/dashboard-links.js'
import { disableUser } from '../../operations/dashboard-users.js'
import { readChoice } from '../choices.js'
import { CommandError, NOT_FOUND, USAGE } from '../command-error.js'
import { publicUrlOf } from '../dashboard-url.js'
import { withPostrider } from '../open-postrider.js'
import { note, print, printJson } from '../print.js'
import { addSettings, configFrom, DATABASE_SETTINGS } from '../settings.js'
import { formatTable, terminalWidth } from '../table.js'
import { addWorkspace, getWorkspace } from '../workspace.js'

interface Flags extends Record<string, unknown> {
  readonly workspace: string
  readonly json?: true
}

export function addAdmin(program: Command): void {
  const admin = program.command('admin').description('who may log in to the dashboard: link, users, disable')
  const add = (usage: string, description: string) =>
    addSettings(addWorkspace(admin.command(usage).description(description)), [
      ...DATABASE_SETTINGS,
      'HOST',
      'PORT',
      'PUBLIC_URL',
      'POSTRIDER_ADMIN_PASSWORD',
    ]).option('--json', 'print JSON')
  add('link', 'print a link with which somebody chooses a password, once and within 24 hours')
    .option('--name <name>', 'for whom; a new user is made if there is none of that name', ADMIN_NAME)
    .option('--role <role>', `what they may do from now on: ${DASHBOARD_ROLES.join(' or ')}; a new user is a viewer`)
    .action(link)
  add('users', 'all users of a workspace, newest first').action(users)
  add('disable <name>', 'end all sessions of a user, who cannot log in again without a new link').action(disable)
}

async function link(flags: Flags & { name: string; role?: string }): Promise<void> {
  const config = configFrom(flags)
  const role = flags.role === undefined ? null : readChoice('--role', flags.role, DASHBOARD_ROLES)
  refuseConfigured(config, flags.name)
  await withPostrider(config, async ({ context: { db } }) => {
    const { id, name: workspace } = await getWorkspace(db, flags.workspace)
    const { user, token, expiresAt } = await makeLink(db, id, { name: flags.name, role })
    const url = setUpUrl(publicUrlOf(config), token)
    const expires = expiresAt.toISOString()
    if (flags.json) return printJson({ ...toJson(user, workspace), setup_url: url, setup_expires_at: expires })
    note(`With this link ${user.name} (${user.role}) chooses a password, once and until ${expires}:`)
    print(url)
  })
}

function refuseConfigured({ adminPassword }: Config, name: string): void {
  if (adminPassword !== null && foldName(name) === ADMIN_NAME)
    throw new CommandError(
      USAGE,
      'admin logs in with POSTRIDER_ADMIN_PASSWORD as long as that is set. --name makes a link for somebody else.',
    )
}

async function users(flags: Flags): Promise<void> {
  await withPostrider(configFrom(flags), async ({ context: { db } }) => {
    const { id, name } = await getWorkspace(db, flags.workspace)
    const all = await listDashboardUsers(db, id)
    if (flags.json) return printJson({ object: 'list', has_more: false, data: all.map((user) => toJson(user, name)) })
    if (all.length === 0) return note(`No users in workspace ${name}. "postrider admin link --name ada" makes one.`)
    print(formatTable(all, COLUMNS, terminalWidth()))
  })
}

async function disable(text: string, flags: Flags): Promise<void> {
  await withPostrider(configFrom(flags), async ({ context: { db } }) => {
    const { id, name } = await getWorkspace(db, flags.workspace)
    const folded = foldName(text)
    const found = folded === null ? null : await findDashboardUserByName(db, folded)
    if (found?.workspaceId !== id)
      throw new CommandError(
        NOT_FOUND,
        `There is no user ${JSON.stringify(text)} in workspace ${name}. "postrider admin users" lists them.`,
      )
    const user = await disableUser(db, id, found.id)
    if (flags.json) printJson(toJson(user, name))
    else print(`Disabled ${user.name}: every session is over.`)
  })
}

const toJson = (user: DashboardUser, workspace: string) => ({
  object: 'dashboard_user',
  id: showId('usr', user.id),
  name: user.name,
  role: user.role,
  has_password: user.hasPassword,
  workspace,
  created_at: user.createdAt.toISOString(),
  seen_at: user.seenAt?.toISOString() ?? null,
  disabled_at: user.disabledAt?.toISOString() ?? null,
})

const COLUMNS = [
  { title: 'NAME', cell: ({ name }: DashboardUser) => name },
  { title: 'ROLE', cell: ({ role }: DashboardUser) => role },
  { title: 'STATE', cell: describeState },
  { title: 'SEEN', cell: ({ seenAt }: DashboardUser) => seenAt?.toISOString().slice(0, 16).replace('T', ' ') ?? '' },
  { title: 'ID', cell: ({ id }: DashboardUser) => showId('usr', id) },
]

function describeState({ disabledAt, hasPassword }: DashboardUser): string {
  if (disabledAt) return 'disabled'
  return hasPassword ? 'can log in' : 'has not used the link'
}
