import type { Command } from 'commander'
import { type Campaign, listCampaigns } from '../../db/campaigns.js'
import { CAMPAIGN_STATUSES } from '../../domain/campaign.js'
import { EMAIL_STATUSES } from '../../domain/email-status.js'
import { showCampaigns } from '../../http/campaign-json.js'
import { showId } from '../../id.js'
import { readCampaignProgress } from '../../operations/read-campaign.js'
import { readEmails } from '../../operations/read-emails.js'
import { readChoice, readWhole } from '../choices.js'
import { readEmailId } from '../email-id.js'
import { getCampaign } from '../named.js'
import { withPostrider } from '../open-postrider.js'
import { note, print, printJson } from '../print.js'
import { describeCampaign, printProgress } from '../print-campaign.js'
import { printEmails } from '../print-emails.js'
import { addSettings, configFrom, DATABASE_SETTINGS } from '../settings.js'
import { formatTable, terminalWidth } from '../table.js'
import { watch } from '../watch.js'
import { addWorkspace, getWorkspace } from '../workspace.js'
import { addCampaignCalendar } from './campaigns-calendar.js'
import { addCampaignCreation } from './campaigns-create.js'
import { addCampaignEnrolling } from './campaigns-enroll.js'
import { addCampaignSteering } from './campaigns-steer.js'

interface Flags extends Record<string, unknown> {
  readonly workspace: string
  readonly json?: true
}

/** What is sent and what is tried out is rendered, and its links are signed. */
const SETTINGS = [...DATABASE_SETTINGS, 'PUBLIC_URL', 'POSTRIDER_SECRET'] as const

export function addCampaigns(program: Command): void {
  const campaigns = program
    .command('campaigns')
    .description(
      'list, show, create, preflight, launch, schedule, pause, resume, cancel, retry, test, enroll, emails, calendar',
    )
  const add = (usage: string, description: string) =>
    addSettings(addWorkspace(campaigns.command(usage).description(description)), SETTINGS).option(
      '--json',
      'print JSON',
    )
  add('list', 'newest first')
    .option('--status <status>', `those that are ${CAMPAIGN_STATUSES.join(', ')}`)
    .option('--limit <number>', 'how many at the most', '20')
    .option('--after <id>', 'those older than this one')
    .action(list)
  add('show <id-or-name>', 'how far it is, how fast it goes, and why it stands still if it does')
    .option('--watch', 'show it again every second until it is over; on a terminal only')
    .action(show)
  addCampaignCreation(add)
  addCampaignSteering(add)
  addCampaignEnrolling(add)
  addCampaignCalendar(add)
  add('emails <id-or-name>', 'its emails, newest first')
    .option('--status <status>', `those that are ${EMAIL_STATUSES.join(', ')}`)
    .option('--limit <number>', 'how many at the most', '20')
    .option('--after <id>', 'those older than this one')
    .action(emails)
}

interface PageFlags extends Flags {
  readonly status?: string
  readonly limit: string
  readonly after?: string
}

const readLimit = ({ limit }: PageFlags) => readWhole('--limit', limit, 1, 1_000)

async function list(flags: PageFlags): Promise<void> {
  const limit = readLimit(flags)
  const status = flags.status === undefined ? {} : { status: readChoice('--status', flags.status, CAMPAIGN_STATUSES) }
  await withPostrider(configFrom(flags), async ({ context: { db } }) => {
    const { id } = await getWorkspace(db, flags.workspace)
    const after = flags.after === undefined ? {} : { after: (await getCampaign(db, id, flags.after)).id }
    const found = await listCampaigns(db, id, status, { limit: limit + 1, ...after })
    const campaigns = found.slice(0, limit)
    const more = found.length > limit
    if (flags.json) return printJson({ object: 'list', has_more: more, data: await showCampaigns(db, campaigns) })
    if (campaigns.length === 0) return note('No campaigns. "postrider campaigns create" makes one.')
    print(formatTable(campaigns, COLUMNS, terminalWidth()))
    if (more) note(`There are more: --after ${showId('cmp', campaigns.at(-1)!.id)}`)
  })
}

const COLUMNS = [
  { title: 'ID', cell: ({ id }: Campaign) => showId('cmp', id) },
  { title: 'STATUS', cell: ({ status }: Campaign) => status },
  { title: 'MADE', cell: ({ createdAt }: Campaign) => createdAt.toISOString().slice(0, 10) },
  { title: 'NAME', cell: ({ name }: Campaign) => name, mayBeCut: true as const },
]

async function show(text: string, flags: Flags & { watch?: true }): Promise<void> {
  await withPostrider(configFrom(flags), async ({ context }) => {
    const workspace = await getWorkspace(context.db, flags.workspace)
    const { id } = await getCampaign(context.db, workspace.id, text)
    const look = () => readCampaignProgress(context, workspace.id, id)
    if (!flags.watch || flags.json || !process.stdout.isTTY) return printProgress(context.db, await look(), flags)
    return watch(async () => {
      const progress = await look()
      return { text: describeCampaign(progress), over: OVER.has(progress.campaign.status) }
    })
  })
}

const OVER: ReadonlySet<string> = new Set(['draft', 'sent', 'canceled'])

async function emails(text: string, flags: PageFlags): Promise<void> {
  const limit = readLimit(flags)
  const status = flags.status === undefined ? {} : { status: readChoice('--status', flags.status, EMAIL_STATUSES) }
  const after = flags.after === undefined ? {} : { after: readEmailId(flags.after) }
  await withPostrider(configFrom(flags), async ({ context }) => {
    const workspace = await getWorkspace(context.db, flags.workspace)
    const { id: campaignId } = await getCampaign(context.db, workspace.id, text)
    const found = await readEmails(context, workspace.id, { campaignId, ...status }, { limit: limit + 1, ...after })
    printEmails(found, limit, flags)
  })
}
