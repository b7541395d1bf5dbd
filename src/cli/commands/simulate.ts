import type { Command } from 'commander'
import type { CalendarDay, FutureEmail } from '../../domain/send-calendar.js'
import { isTimezone } from '../../domain/zone-days.js'
import { toSimulation } from '../../http/simulation-json.js'
import { showId } from '../../id.js'
import {
  type CampaignSimulation,
  MOST_SIMULATED_DAYS,
  MOST_SIMULATED_EMAILS,
  simulateCampaign,
} from '../../operations/simulate-campaign.js'
import { readWhole } from '../choices.js'
import { CommandError, USAGE } from '../command-error.js'
import { getCampaign } from '../named.js'
import { withPostrider } from '../open-postrider.js'
import { print, printJson } from '../print.js'
import { oneLine, wrap } from '../safe-text.js'
import { addSettings, configFrom, DATABASE_SETTINGS } from '../settings.js'
import { type Column, formatTable, terminalWidth } from '../table.js'
import { addWorkspace, getWorkspace } from '../workspace.js'

interface Flags extends Record<string, unknown> {
  readonly workspace: string
  readonly days: string
  readonly limit?: string
  readonly timezone?: string
  readonly json?: true
}

export function addSimulate(program: Command): void {
  addSettings(
    addWorkspace(program.command('simulate <campaign-id>').description('what would go out when, without sending')),
    DATABASE_SETTINGS,
  )
    .option('--days <number>', 'how many days, today among them', '14')
    .option('--limit <number>', 'how many emails are shown one by one (default 10, with --json 100)')
    .option('--timezone <name>', "of the days and times, such as Europe/Paris; without it, the first sender's")
    .option('--json', 'print JSON')
    .action(simulate)
}

async function simulate(text: string, flags: Flags): Promise<void> {
  const days = readWhole('--days', flags.days, 1, MOST_SIMULATED_DAYS)
  const limit = readWhole('--limit', flags.limit ?? (flags.json ? '100' : '10'), 0, MOST_SIMULATED_EMAILS)
  const { timezone } = flags
  if (timezone !== undefined && !isTimezone(timezone))
    throw new CommandError(
      USAGE,
      `--timezone is ${JSON.stringify(timezone)}; it must be the name of a timezone, such as Europe/Paris.`,
    )
  await withPostrider(configFrom(flags), async ({ context }) => {
    const workspace = await getWorkspace(context.db, flags.workspace)
    const { id } = await getCampaign(context.db, workspace.id, text)
    const simulation = await simulateCampaign(context, workspace.id, id, { days, limit, timezone })
    if (flags.json) printJson(toSimulation(simulation))
    else print(format(simulation, terminalWidth()))
  })
}

function format(simulation: CampaignSimulation, width: number): string {
  const { campaign, days, emails, total, beyond, timezone } = simulation
  const after = beyond === 0 ? '' : `, and ${beyond} later`
  return [
    `${showId('cmp', campaign.id)} ${oneLine(campaign.name)}: ${campaign.status}`,
    wrap(
      `${total} ${total === 1 ? 'email' : 'emails'} in ${countDays(days.length)}${after}. Nothing was sent.`,
      width,
      '',
    ),
    '',
    formatTable(days, dayColumns(simulation), width),
    ...(emails.length === 0 ? [] : [formatTable(emails, emailColumns(simulation), width)]),
    ...(total > emails.length && emails.length > 0 ? [`… and ${total - emails.length} more on these days.`, ''] : []),
    ...simulation.assumptions.map((sentence) => wrap(`- ${oneLine(sentence)}`, width, '  ')),
    `Times are in ${timezone}.`,
  ].join('\n')
}

const countDays = (days: number) => (days === 1 ? 'one day' : `${days} days`)

const BAR = 24

function dayColumns({ days }: CampaignSimulation): Column<CalendarDay>[] {
  const most = Math.max(1, ...days.map(({ emails }) => emails))
  const hasSteps = days.some(({ byStep }) => byStep.size > 0)
  return [
    { title: 'DAY', cell: ({ day }) => `${day} ${weekday(day)}` },
    { title: 'EMAILS', cell: ({ emails }) => String(emails) },
    // Something is never shown as nothing.
    { title: '', cell: ({ emails }) => '#'.repeat(Math.ceil((emails / most) * BAR)), mayBeCut: true },
    ...(hasSteps ? [{ title: 'STEPS', cell: describeSteps, mayBeCut: true as const }] : []),
  ]
}

/** "1: 40, 2: 12": so many of the first email of the sequence, so many of the second. */
const describeSteps = ({ byStep }: CalendarDay) =>
  [...byStep]
    .toSorted(([one], [other]) => one - other)
    .map(([step, count]) => `${step}: ${count}`)
    .join(', ')

const weekday = (day: string) =>
  new Date(`${day}T00:00:00Z`).toLocaleDateString('en', { weekday: 'short', timeZone: 'UTC' })

function emailColumns({ timezone, senders, emails }: CampaignSimulation): Column<FutureEmail>[] {
  const addresses = new Map(senders.map(({ id, address }) => [id, address]))
  // The way Swedes write a date is the one that sorts.
  const clock = new Intl.DateTimeFormat('sv-SE', { timeZone: timezone, dateStyle: 'short', timeStyle: 'medium' })
  return [
    { title: 'AT', cell: ({ at }) => clock.format(at) },
    ...(emails.some(({ step }) => step !== null)
      ? [{ title: 'STEP', cell: ({ step }: FutureEmail) => String(step ?? '') }]
      : []),
    { title: 'TO', cell: ({ address }) => address, mayBeCut: true },
    { title: 'FROM', cell: ({ senderId }) => addresses.get(senderId) ?? '', mayBeCut: true },
  ]
}
