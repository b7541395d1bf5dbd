import type { Command } from 'commander'
import { type Problem, PostriderError } from '../../errors.js'
import { type CampaignInput, createCampaign } from '../../operations/campaigns.js'
import { readInstant } from '../../operations/prepare-email.js'
import { getList } from '../audience.js'
import { readWhole } from '../choices.js'
import { CommandError, USAGE } from '../command-error.js'
import { getSender, getSequence, getTemplate } from '../named.js'
import { withPostrider } from '../open-postrider.js'
import { printCampaign } from '../print-campaign.js'
import { configFrom } from '../settings.js'
import { getWorkspace } from '../workspace.js'

interface Flags extends Record<string, unknown> {
  readonly workspace: string
  readonly json?: true
  readonly list: string
  readonly template?: string
  readonly sequence?: string
  readonly sender?: readonly string[]
  readonly replyTo?: string
  readonly batchSize?: string
  readonly hourlyLimit?: string
  readonly followPace?: true
  readonly schedule?: string
  readonly expires?: string
}

export function addCampaignCreation(add: (usage: string, description: string) => Command): void {
  add('create <name>', 'make a draft; nothing is sent before it is launched')
    .requiredOption('--list <id-or-name>', 'to whom')
    .option('--template <id-or-name>', 'what')
    .option('--sequence <id-or-name>', 'instead of a template: whoever is on the list walks it')
    .option('--sender <id-or-address...>', 'as whom; the default sender unless given; for a sequence several')
    .option('--reply-to <address>', 'where answers go')
    .option('--batch-size <number>', 'how many people it plans at a time')
    .option('--hourly-limit <number>', 'how many it plans in any hour at the most')
    .option('--follow-pace', "keep to its sender's window and daily quota")
    .option('--schedule <instant>', 'not before this, once launched, such as 2026-11-16T09:00:00Z')
    .option('--expires <instant>', 'what has not gone out by then never does')
    .action(create)
}

async function create(name: string, flags: Flags): Promise<void> {
  if ((flags.template === undefined) === (flags.sequence === undefined))
    throw new CommandError(USAGE, 'Give either --template or --sequence.')
  const chosen: CampaignInput = {
    name,
    ...(flags.replyTo !== undefined && { replyTo: flags.replyTo }),
    ...(flags.batchSize !== undefined && { batchSize: readWhole('--batch-size', flags.batchSize, 1, MOST) }),
    ...(flags.hourlyLimit !== undefined && { hourlyLimit: readWhole('--hourly-limit', flags.hourlyLimit, 1, MOST) }),
    ...(flags.followPace && { followPace: true }),
    ...(flags.schedule !== undefined && { scheduledAt: readTime('--schedule', flags.schedule) }),
    ...(flags.expires !== undefined && { expiresAt: readTime('--expires', flags.expires) }),
  }
  await withPostrider(configFrom(flags), async ({ context }) => {
    const { db } = context
    const { id } = await getWorkspace(db, flags.workspace)
    const list = await getList(db, id, flags.list)
    const senderIds: string[] = []
    for (const sender of flags.sender ?? []) senderIds.push((await getSender(db, id, sender)).id)
    const input: CampaignInput = {
      ...chosen,
      listId: list.id,
      ...(flags.template !== undefined && { templateId: (await getTemplate(db, id, flags.template)).id }),
      ...(flags.sequence !== undefined && { sequenceId: (await getSequence(db, id, flags.sequence)).id }),
      ...(senderIds.length > 0 && { senderIds }),
    }
    const made = await createCampaign(context, id, input).catch((error: unknown) => {
      throw error instanceof PostriderError && error.problems.length > 0 ? refusal(error.problems) : error
    })
    await printCampaign(db, made, flags)
  })
}

const MOST = 2_147_483_647

export function readTime(flag: string, text: string): Date {
  const refuse = (_: unknown, detail: string): never => {
    throw new CommandError(USAGE, `${flag} is ${JSON.stringify(text)}; it ${detail}.`)
  }
  return readInstant(text, flag, refuse)!
}

const FLAG_NAMES: Readonly<Record<string, string>> = {
  name: 'the name',
  replyTo: '--reply-to',
  batchSize: '--batch-size',
  hourlyLimit: '--hourly-limit',
  expiresAt: '--expires',
  senderIds: '--sender',
}

/** All that is wrong, a line each, by the flag it was given with. */
const refusal = (problems: readonly Problem[]) =>
  new CommandError(
    USAGE,
    [
      'The campaign cannot be kept:',
      ...problems.map(({ path, detail }) => `  ${FLAG_NAMES[String(path[0])] ?? path.join('.')}: ${detail}`),
    ].join('\n'),
  )
