import type { Command } from 'commander'
import { readNow } from '../../db/sender-days.js'
import { listSenders } from '../../db/senders.js'
import { toSender, toSenderTest } from '../../http/sender-json.js'
import { readSenderHealth, type SenderHealth } from '../../operations/sender-health.js'
import { holdSender, releaseSender } from '../../operations/senders.js'
import { CommandError } from '../command-error.js'
import { getSender } from '../named.js'
import { withPostrider } from '../open-postrider.js'
import { print, printJson } from '../print.js'
import { oneLine } from '../safe-text.js'
import { addSettings, configFrom, DATABASE_SETTINGS } from '../settings.js'
import { formatTable, terminalWidth } from '../table.js'
import { addWorkspace, getWorkspace } from '../workspace.js'

interface Flags extends Record<string, unknown> {
  readonly workspace: string
  readonly json?: true
}

/** Testing one connects as the server would. */
const SETTINGS = [...DATABASE_SETTINGS, 'SMTP_URL', 'POSTRIDER_SECRET'] as const

export function addSenders(program: Command): void {
  const senders = program.command('senders').description('who mail goes out as: list, pause, resume, test')
  const add = (usage: string, description: string) =>
    addSettings(addWorkspace(senders.command(usage).description(description)), SETTINGS).option('--json', 'print JSON')
  add('list', 'whether each sends, why not, and how much of its day is used').action(list)
  add('pause <id-or-address>', 'what it would send waits')
    .option('--reason <text>', 'what others are told')
    .action(pause)
  add('resume <id-or-address>', 'it sends again; what waited goes out').action(resume)
  add('test <id-or-address>', 'connect and log in as it would; nothing is sent').action(test)
}

async function list(flags: Flags): Promise<void> {
  await withPostrider(configFrom(flags), async ({ context: { db } }) => {
    const { id } = await getWorkspace(db, flags.workspace)
    if (flags.json)
      return printJson({ object: 'list', has_more: false, data: (await listSenders(db, id)).map(toSender) })
    print(formatTable(await readSenderHealth(db, id, await readNow(db)), COLUMNS, terminalWidth()))
  })
}

const COLUMNS = [
  {
    title: 'ADDRESS',
    cell: ({ sender }: SenderHealth) => `${sender.address}${sender.isDefault ? ' (default)' : ''}`,
    mayBeCut: true as const,
  },
  { title: 'STATE', cell: ({ state }: SenderHealth) => state },
  {
    title: 'SENT TODAY',
    cell: ({ today }: SenderHealth) => `${today.sent}${today.quota === null ? '' : ` of ${today.quota}`}`,
  },
  { title: 'WHY', cell: whyNot, mayBeCut: true as const },
]

function whyNot({ sender, heldUntil }: SenderHealth): string {
  if (sender.pausedAt) return sender.pausedReason ?? ''
  return heldUntil ? `its mail server wants it slower, until ${heldUntil.toISOString()}` : ''
}

async function pause(text: string, { reason = 'paused by the command line', ...flags }: Flags & { reason?: string }) {
  await withPostrider(configFrom(flags), async ({ context }) => {
    const workspace = await getWorkspace(context.db, flags.workspace)
    const { id } = await getSender(context.db, workspace.id, text)
    const paused = await holdSender(context, workspace.id, id, reason)
    if (flags.json) printJson(toSender(paused))
    else print(`${oneLine(paused.address)} is paused. What it would send waits.`)
  })
}

async function resume(text: string, flags: Flags): Promise<void> {
  await withPostrider(configFrom(flags), async ({ context }) => {
    const workspace = await getWorkspace(context.db, flags.workspace)
    const { id } = await getSender(context.db, workspace.id, text)
    const resumed = await releaseSender(context, workspace.id, id)
    if (flags.json) printJson(toSender(resumed))
    else print(`${oneLine(resumed.address)} sends again.`)
  })
}

async function test(text: string, flags: Flags): Promise<void> {
  await withPostrider(configFrom(flags), async ({ context }) => {
    const workspace = await getWorkspace(context.db, flags.workspace)
    const { id, address, provider } = await getSender(context.db, workspace.id, text)
    const tested = await context.testSender(workspace.id, id)
    if (flags.json) printJson(toSenderTest(tested))
    const { ok, evidence } = tested
    if (!ok) {
      const said = evidence && `${evidence.phase}: ${oneLine(evidence.reply)}`
      throw new CommandError(1, `${oneLine(address)} cannot send${said ? ` (${said})` : ''}.`)
    }
    if (flags.json) return
    const where = evidence?.remoteHost ? ` by ${evidence.remoteHost}` : ''
    const said = provider === 'capture' ? 'sends to the dev inbox only' : `can send${where}`
    print(`${oneLine(address)} ${said}.`)
  })
}
