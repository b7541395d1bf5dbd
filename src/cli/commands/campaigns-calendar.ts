import type { Command } from 'commander'
import { showScheduled } from '../../http/routes/campaign-emails.js'
import { readCalendar } from '../../operations/read-emails.js'
import { readWhole } from '../choices.js'
import { readEmailId } from '../email-id.js'
import { getCampaign } from '../named.js'
import { withPostrider } from '../open-postrider.js'
import { note, print, printJson } from '../print.js'
import { configFrom } from '../settings.js'
import { formatTable, terminalWidth } from '../table.js'
import { getWorkspace } from '../workspace.js'
import { readTime } from './campaigns-create.js'

interface Flags extends Record<string, unknown> {
  readonly workspace: string
  readonly json?: true
  readonly from?: string
  readonly to?: string
  readonly limit: string
  readonly after?: string
}

export function addCampaignCalendar(add: (usage: string, description: string) => Command): void {
  add('calendar <id-or-name>', 'what goes out when, soonest first')
    .option('--from <instant>', 'from then on, such as 2026-11-16T09:00:00Z')
    .option('--to <instant>', 'before then')
    .option('--limit <number>', 'how many at the most', '20')
    .option('--after <id>', 'those later than this one')
    .action(calendar)
}

async function calendar(text: string, flags: Flags): Promise<void> {
  const limit = readWhole('--limit', flags.limit, 1, 1_000)
  const page = {
    limit: limit + 1,
    ...(flags.from !== undefined && { from: readTime('--from', flags.from) }),
    ...(flags.to !== undefined && { to: readTime('--to', flags.to) }),
    ...(flags.after !== undefined && { after: readEmailId(flags.after) }),
  }
  await withPostrider(configFrom(flags), async ({ context }) => {
    const workspace = await getWorkspace(context.db, flags.workspace)
    const campaign = await getCampaign(context.db, workspace.id, text)
    const found = await readCalendar(context, workspace.id, campaign.id, page)
    const emails = await showScheduled(context, campaign, found.slice(0, limit))
    const more = found.length > limit
    if (flags.json) return printJson({ object: 'list', has_more: more, data: emails })
    if (emails.length === 0) return note('Nothing waits.')
    print(formatTable(emails, COLUMNS, terminalWidth()))
    if (more) note(`There are more: --after ${emails.at(-1)!.id}`)
  })
}

type Shown = Awaited<ReturnType<typeof showScheduled>>[number]

const COLUMNS = [
  { title: 'TIME (UTC)', cell: ({ scheduled_at: at }: Shown) => (at ?? '').slice(0, 19).replace('T', ' ') },
  { title: 'STEP', cell: ({ step }: Shown) => (step ? String(step.number) : '') },
  { title: 'TO', cell: ({ address }: Shown) => address, mayBeCut: true as const },
  { title: 'SUBJECT', cell: ({ subject }: Shown) => subject, mayBeCut: true as const },
]
