import type { Command } from 'commander'
import { toEnrolled } from '../../http/enrollment-json.js'
import { type Enrollees, enrollInCampaign, MOST_CONTACTS } from '../../operations/launch-sequence.js'
import { getContact, getList } from '../audience.js'
import { CommandError, USAGE } from '../command-error.js'
import { confirm } from '../confirm.js'
import { getCampaign } from '../named.js'
import { withPostrider } from '../open-postrider.js'
import { print, printJson } from '../print.js'
import { oneLine } from '../safe-text.js'
import { configFrom } from '../settings.js'
import { getWorkspace } from '../workspace.js'

interface Flags extends Record<string, unknown> {
  readonly workspace: string
  readonly json?: true
  readonly contact?: readonly string[]
  readonly list?: string
  readonly yes?: true
}

export function addCampaignEnrolling(add: (usage: string, description: string) => Command): void {
  add('enroll <id-or-name>', 'enroll more people in a launched campaign of a sequence; nobody twice')
    .option('--contact <id-or-address...>', 'these people')
    .option('--list <id-or-name>', 'everybody on this list')
    .option('--yes', 'do not ask')
    .action(enroll)
}

async function enroll(text: string, flags: Flags): Promise<void> {
  if ((flags.contact === undefined) === (flags.list === undefined))
    throw new CommandError(USAGE, 'Give either --contact or --list.')
  if (flags.contact && flags.contact.length > MOST_CONTACTS)
    throw new CommandError(USAGE, `At most ${MOST_CONTACTS} people at a time. Put them on a list, and give --list.`)
  await withPostrider(configFrom(flags), async ({ context }) => {
    const { db } = context
    const workspace = await getWorkspace(db, flags.workspace)
    const { id, name } = await getCampaign(db, workspace.id, text)
    let whom: Enrollees
    if (flags.list === undefined) {
      const contactIds: string[] = []
      for (const contact of flags.contact ?? []) contactIds.push((await getContact(db, workspace.id, contact)).id)
      whom = { contactIds }
    } else {
      const list = await getList(db, workspace.id, flags.list)
      await confirm(`Enroll everybody on ${JSON.stringify(list.name)} in ${JSON.stringify(name)}?`, flags.yes)
      whom = { listId: list.id }
    }
    const enrolled = toEnrolled(await enrollInCampaign(context, workspace.id, id, whom))
    if (flags.json) return printJson(enrolled)
    const people = (number: number) => `${number} ${number === 1 ? 'person' : 'people'}`
    print(`${people(enrolled.enrolled)} enrolled, with ${enrolled.scheduled} planned emails.`)
    if (enrolled.skipped > 0)
      print(
        `${people(enrolled.skipped)} skipped: ${enrolled.unsubscribed} unsubscribed, ${enrolled.suppressed} suppressed, ${enrolled.enrolled_before} enrolled before.`,
      )
    if (enrolled.remaining > 0) print(`${people(enrolled.remaining)} will be enrolled as the campaign goes on.`)
    for (const error of enrolled.errors) print(oneLine(error))
  })
}
