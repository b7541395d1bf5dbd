import type { Command } from 'commander'
import { type Enrollment, type EnrollmentFilter, listEnrollments, type ListedEnrollment } from '../../db/enrollments.js'
import { statusOf } from '../../domain/email-status.js'
import { ENROLLMENT_STATES } from '../../domain/enrollment.js'
import { toEnrollment, toListedEnrollment, toWholeEnrollment } from '../../http/enrollment-json.js'
import { showId } from '../../id.js'
import type { Context } from '../../operations/context.js'
import { pauseEnrollment, resumeEnrollment, stopEnrollment } from '../../operations/enrollments.js'
import { readEnrollment, type ReadEnrollment } from '../../operations/read-enrollment.js'
import { getContact } from '../audience.js'
import { readChoice, readWhole } from '../choices.js'
import { getCampaign, getEnrollment } from '../named.js'
import { withPostrider } from '../open-postrider.js'
import { note, print, printJson } from '../print.js'
import { oneLine, wrap } from '../safe-text.js'
import { addSettings, configFrom, DATABASE_SETTINGS } from '../settings.js'
import { formatTable, terminalWidth } from '../table.js'
import { addWorkspace, getWorkspace } from '../workspace.js'

interface Flags extends Record<string, unknown> {
  readonly workspace: string
  readonly json?: true
}

const BY = 'the command line'

export function addEnrollments(program: Command): void {
  const enrollments = program.command('enrollments').description('list, show, stop, pause, resume')
  const add = (usage: string, description: string) =>
    addSettings(addWorkspace(enrollments.command(usage).description(description)), DATABASE_SETTINGS).option(
      '--json',
      'print JSON',
    )
  add('list', 'who walks which sequence, newest first')
    .option('--campaign <id>', 'those of this campaign')
    .option('--contact <id-or-address>', 'those of this contact')
    .option('--state <state>', `those that are ${ENROLLMENT_STATES.join(', ')}`)
    .option('--limit <number>', 'how many at the most', '20')
    .option('--after <id>', 'those older than this one')
    .action(list)
  add('show <id>', 'where it is, its emails, and why it is not further').action(show)
  add('stop <id>', 'for good: what has not gone out never will').action(
    steer((context, workspaceId, id) => stopEnrollment(context, workspaceId, id, BY)),
  )
  add('pause <id>', 'nothing of it happens until it is resumed').action(steer(pauseEnrollment))
  add('resume <id>', 'it goes on; what should have come meanwhile comes now').action(steer(resumeEnrollment))
}

interface ListFlags extends Flags {
  readonly campaign?: string
  readonly contact?: string
  readonly state?: string
  readonly limit: string
  readonly after?: string
}

async function list(flags: ListFlags): Promise<void> {
  const limit = readWhole('--limit', flags.limit, 1, 1_000)
  const state = flags.state === undefined ? {} : { state: readChoice('--state', flags.state, ENROLLMENT_STATES) }
  await withPostrider(configFrom(flags), async ({ context: { db } }) => {
    const { id } = await getWorkspace(db, flags.workspace)
    const filter: EnrollmentFilter = {
      ...state,
      ...(flags.campaign !== undefined && { campaignId: (await getCampaign(db, id, flags.campaign)).id }),
      ...(flags.contact !== undefined && { contactId: (await getContact(db, id, flags.contact)).id }),
    }
    const after = flags.after === undefined ? {} : { after: (await getEnrollment(db, id, flags.after)).id }
    const found = await listEnrollments(db, id, filter, { limit: limit + 1, ...after })
    const enrollments = found.slice(0, limit)
    const more = found.length > limit
    if (flags.json) return printJson({ object: 'list', has_more: more, data: enrollments.map(toListedEnrollment) })
    if (enrollments.length === 0) return note('No enrollments.')
    print(formatTable(enrollments, COLUMNS, terminalWidth()))
    if (more) note(`There are more: --after ${showId('enr', enrollments.at(-1)!.id)}`)
  })
}

/** By address; whoever was removed has only an id left. */
function whoWalks({ address, contactId }: Enrollment): string {
  return address ?? showId('ctc', contactId)
}

/** The email that comes next, or what it waits for without one; and of one that is over, why. */
function whatIsNext({ next, nodeId, state, reason }: ListedEnrollment): string {
  if (next) return `${next.runAt.toISOString().slice(0, 16).replace('T', ' ')} ${next.nodeId}`
  return state === 'stopped' ? (reason ?? '') : (nodeId ?? 'the end')
}

const COLUMNS = [
  { title: 'ID', cell: ({ id }: Enrollment) => showId('enr', id) },
  { title: 'CONTACT', cell: whoWalks, mayBeCut: true as const },
  { title: 'STATE', cell: ({ state }: Enrollment) => state },
  { title: 'NEXT (UTC)', cell: whatIsNext, mayBeCut: true as const },
]

async function show(text: string, flags: Flags): Promise<void> {
  await withPostrider(configFrom(flags), async ({ context }) => {
    const workspace = await getWorkspace(context.db, flags.workspace)
    const { id } = await getEnrollment(context.db, workspace.id, text)
    const read = await readEnrollment(context, workspace.id, id)
    if (flags.json) printJson(toWholeEnrollment(read))
    else print(describe(read))
  })
}

function describe({ enrollment, emails, explain }: ReadEnrollment): string {
  const facts = {
    state: enrollment.state,
    campaign: showId('cmp', enrollment.campaignId),
    sequence: showId('seq', enrollment.sequenceId),
    contact: whoWalks(enrollment),
    sender: showId('snd', enrollment.senderId),
    enrolled: enrollment.createdAt.toISOString(),
  }
  return [
    showId('enr', enrollment.id),
    ...Object.entries(facts).map(([name, value]) => `  ${name.padEnd(8)}  ${value}`),
    '',
    ...emails.map(({ id, stepNumber, state, reasonCode, runAt, stateAt }) => {
      const at = (state === 'done' ? stateAt : runAt).toISOString()
      return `  step ${stepNumber}  ${showId('em', id)}  ${statusOf(state, reasonCode)} ${at}`
    }),
    wrap(oneLine(explain), terminalWidth(), ''),
  ].join('\n')
}

const steer =
  (change: (context: Context, workspaceId: string, id: string) => Promise<Enrollment>) =>
  (text: string, flags: Flags): Promise<void> =>
    withPostrider(configFrom(flags), async ({ context }) => {
      const workspace = await getWorkspace(context.db, flags.workspace)
      const { id } = await getEnrollment(context.db, workspace.id, text)
      const changed = await change(context, workspace.id, id)
      if (flags.json) printJson(toEnrollment(changed))
      else print(`${showId('enr', id)}: ${changed.state}`)
    })
