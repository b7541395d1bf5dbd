import type { Command } from 'commander'
import { measureAudience } from '../../db/campaign-audience.js'
import type { Campaign } from '../../db/campaigns.js'
import { type CampaignStatus, liveEmails } from '../../domain/campaign.js'
import { showCampaign } from '../../http/campaign-json.js'
import { toEmailRef } from '../../http/email-json.js'
import { showId } from '../../id.js'
import type { Context } from '../../operations/context.js'
import { launchCampaign, type Launched } from '../../operations/launch-campaign.js'
import { preflightCampaign } from '../../operations/preflight-campaign.js'
import { readCampaignProgress } from '../../operations/read-campaign.js'
import { scheduleCampaign, takesPeople } from '../../operations/schedule-campaign.js'
import { cancelCampaign, pauseCampaign, resumeCampaign, retryCampaign } from '../../operations/steer-campaign.js'
import { testCampaign } from '../../operations/test-campaign.js'
import { confirm } from '../confirm.js'
import { getCampaign } from '../named.js'
import { withPostrider } from '../open-postrider.js'
import { print, printJson } from '../print.js'
import { printCampaign, printPreflight } from '../print-campaign.js'
import { configFrom } from '../settings.js'
import { getWorkspace } from '../workspace.js'
import { readTime } from './campaigns-create.js'

/** What an operator does to a campaign. What reaches many people at once is asked for first. */
interface Flags extends Record<string, unknown> {
  readonly workspace: string
  readonly json?: true
}

interface MassFlags extends Flags {
  readonly yes?: true
  readonly dryRun?: true
}

const BY = 'the command line'

export function addCampaignSteering(add: (usage: string, description: string) => Command): void {
  const mass = (usage: string, description: string, dryRun: string) =>
    add(usage, description).option('--yes', 'do not ask').option('--dry-run', dryRun)
  add('preflight <id-or-name>', 'what would keep it from being launched').action(preflight)
  mass('launch <id-or-name>', 'send it, now or at its scheduled time', 'only check').action(
    (id: string, flags: MassFlags) => launch(id, launchCampaign, undefined, flags),
  )
  mass(
    'schedule <id-or-name> [instant]',
    'launch it at a time, such as 2026-11-16T09:00:00Z; without one, a launched sequence takes who joined its list',
    'only check',
  ).action((id: string, instant: string | undefined, flags: MassFlags) =>
    launch(id, scheduleCampaign, instant === undefined ? undefined : readTime('The instant', instant), flags),
  )
  add('pause <id-or-name>', 'at once, also for what is queued already').action(steer(pauseCampaign))
  add('resume <id-or-name>', 'it goes on where it was').action(steer(resumeCampaign))
  mass('cancel <id-or-name>', 'for good: what has not gone out never will', 'only count them').action(cancel)
  mass('retry <id-or-name>', 'send its failed emails again, from the start', 'only count them').action(retry)
  add('test <id-or-name>', 'send it to one address').requiredOption('--to <address>', 'to whom').action(test)
}

const withCampaign = (
  text: string,
  flags: Flags,
  work: (context: Context, campaign: Campaign) => Promise<void>,
): Promise<void> =>
  withPostrider(configFrom(flags), async ({ context }) => {
    const { id } = await getWorkspace(context.db, flags.workspace)
    await work(context, await getCampaign(context.db, id, text))
  })

const preflight = (text: string, flags: Flags) =>
  withCampaign(text, flags, async (context, campaign) =>
    printPreflight(await preflightCampaign(context, campaign), flags),
  )

const launch = (text: string, start: typeof launchCampaign, asked: Date | undefined, flags: MassFlags) =>
  withCampaign(text, flags, async (context, campaign) => {
    const { id, workspaceId, name, listId } = campaign
    const scheduledAt = asked ?? campaign.scheduledAt
    const again = start === scheduleCampaign && !asked && takesPeople(campaign)
    // What is no draft any more is refused by launching, before anybody is asked; unless it takes more people.
    if (campaign.status === 'draft' || again) {
      if (flags.dryRun && !again) return printPreflight(await preflightCampaign(context, campaign, scheduledAt), flags)
      const { members, leftOut } = await measureAudience(context.db, workspaceId, listId)
      const people = count(members - (leftOut ?? 0), 'person', 'people')
      if (flags.dryRun) {
        if (flags.json) printJson({ ...(await showCampaign(context.db, campaign)), dry_run: true, matched: members })
        else print(`${people} would be looked at again; who was enrolled before is skipped.`)
        return
      }
      const what = again ? 'Enroll who joined the list of' : 'Launch'
      const whom = again ? `, of ${people}` : ` to ${people}${scheduledAt ? ` at ${scheduledAt.toISOString()}` : ''}`
      await confirm(`${what} ${JSON.stringify(name)}${whom}?`, flags.yes)
    }
    const when = asked ? { scheduledAt: asked } : campaign.status === 'draft' ? { scheduledAt } : {}
    const { campaign: launched, ...rest } = await start(context, workspaceId, id, when)
    if (flags.json) return printJson({ ...(await showCampaign(context.db, launched)), ...rest })
    await printCampaign(context.db, launched, flags)
    print(describeLaunch(rest))
  })

/** Of a sequence emails are counted, and some people may be enrolled later; of a template, people. */
const describeLaunch = ({ scheduled, skipped, errors, remaining }: Omit<Launched, 'campaign'>) =>
  remaining === undefined
    ? `It goes to ${count(scheduled, 'person', 'people')}; ${skipped} opted out or are suppressed.`
    : [
        `${count(scheduled, 'email', 'emails')} planned; ${count(skipped, 'person', 'people')} skipped (opted out, suppressed, or enrolled before).`,
        ...(remaining > 0 ? [`${count(remaining, 'person is', 'people are')} enrolled as it goes on.`] : []),
        ...errors,
      ].join('\n')

const steer =
  (change: (context: Context, workspaceId: string, id: string) => Promise<Campaign>) => (text: string, flags: Flags) =>
    withCampaign(text, flags, async (context, { workspaceId, id }) =>
      printCampaign(context.db, await change(context, workspaceId, id), flags),
    )

const cancel = (text: string, flags: MassFlags) =>
  withCampaign(text, flags, async (context, { workspaceId, id, name }) => {
    const { campaign, counts } = await readCampaignProgress(context, workspaceId, id)
    const left = counts.notPlanned + liveEmails(counts)
    // Of a sequence they are emails.
    const people = campaign.sequenceId === null ? count(left, 'person', 'people') : count(left, 'email', 'emails')
    const lost = campaign.sequenceId === null ? 'would not get it any more' : 'would not go out any more'
    if (flags.dryRun) {
      if (flags.json) printJson({ ...(await showCampaign(context.db, campaign)), dry_run: true, left })
      else print(`${people} ${lost}.`)
      return
    }
    // What is over is refused by cancelling; nobody needs to be asked.
    if (!isOver(campaign.status))
      await confirm(`Cancel ${JSON.stringify(name)} for good? ${people} ${lost}.`, flags.yes)
    await printCampaign(context.db, await cancelCampaign(context, workspaceId, id), flags)
  })

const isOver = (status: CampaignStatus) => status === 'sent' || status === 'canceled'

const retry = (text: string, flags: MassFlags) =>
  withCampaign(text, flags, async (context, { workspaceId, id }) => {
    const { campaign, counts } = await readCampaignProgress(context, workspaceId, id)
    const failed = count(counts.failed, 'failed email', 'failed emails')
    if (flags.dryRun) {
      const shown = await showCampaign(context.db, campaign)
      if (flags.json) printJson({ ...shown, dry_run: true, matched: counts.failed, retried: 0 })
      else print(`${failed} would be retried.`)
      return
    }
    if (counts.failed > 0) await confirm(`Retry ${failed}?`, flags.yes)
    const { campaign: changed, retried } = await retryCampaign(context, workspaceId, id, BY)
    if (flags.json) return printJson({ ...(await showCampaign(context.db, changed)), retried })
    print(`${count(retried, 'email', 'emails')} retried. ${showId('cmp', id)} is ${changed.status}.`)
  })

const test = (text: string, flags: Flags & { to: string }) =>
  withCampaign(text, flags, async (context, { workspaceId, id }) => {
    const sent = toEmailRef(await testCampaign(context, workspaceId, id, flags.to))
    if (flags.json) printJson(sent)
    else print(`${sent.id} ${sent.status}`)
  })

const count = (number: number, one: string, several: string) => `${number} ${number === 1 ? one : several}`
