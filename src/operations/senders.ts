import { findCampaignsOfSender } from '../db/campaigns.js'
import {
  deleteSender,
  findSender,
  insertSender,
  pauseSender,
  resumeSender,
  type Sender,
  type SenderFields,
  updateSender,
} from '../db/senders.js'
import { readNow } from '../db/sender-days.js'
import { foldAddress, parseMailbox } from '../domain/address.js'
import { localDayOf, type Pace } from '../domain/pace.js'
import { type PaceInput, readPace } from '../domain/read-pace.js'
import type { DkimKey } from '../domain/sender-credentials.js'
import { sayProblems } from '../domain/say-problem.js'
import { type Problem, PostriderError } from '../errors.js'
import { newId } from '../id.js'
import type { Context } from './context.js'

/** Changes to senders. Credentials go in as an SMTP URL and never come out again. */
export interface SenderInput {
  readonly name?: string | null
  readonly address?: string
  readonly provider?: 'smtp' | 'capture'
  readonly smtpUrl?: string
  /** Null takes the signature away. */
  readonly dkim?: DkimKey | null
  readonly isDefault?: boolean
  /** The whole of it, not a change; null takes it away. */
  readonly pace?: PaceInput | null
}

export async function createSender(context: Context, workspaceId: string, input: SenderInput): Promise<Sender> {
  const fields = await readFields(context, input, null)
  const made = await context.db.transaction((tx) => insertSender(tx, workspaceId, newId(), fields))
  if (!made) throw addressTaken()
  context.sendersChanged(workspaceId)
  return made
}

export async function changeSender(
  context: Context,
  workspaceId: string,
  id: string,
  input: SenderInput,
): Promise<Sender> {
  const known = await findSender(context.db, workspaceId, id)
  if (!known) throw notFound()
  const fields = await readFields(context, input, known)
  const changed = await context.db
    .transaction((tx) => updateSender(tx, workspaceId, id, fields))
    .catch((error: unknown) => {
      throw (error as { code?: unknown }).code === '23505' ? addressTaken() : error
    })
  if (!changed) throw notFound()
  context.sendersChanged(workspaceId)
  return changed
}

export async function removeSender(context: Context, workspaceId: string, id: string): Promise<void> {
  const known = await findSender(context.db, workspaceId, id)
  if (!known) throw notFound()
  if (known.isDefault)
    throw new PostriderError(
      'sender_conflict',
      'The default sender cannot be removed: make another one the default first.',
    )
  if (!(await deleteSender(context.db, workspaceId, id))) throw await stillUsed(context, workspaceId, id)
  context.sendersChanged(workspaceId)
}

export async function holdSender(context: Context, workspaceId: string, id: string, reason: string): Promise<Sender> {
  const paused = await context.db.transaction((tx) => pauseSender(tx, workspaceId, id, { code: 'paused', reason }))
  if (!paused) throw notFound()
  context.log.info({ sender: id }, 'sender paused')
  context.sendersChanged(workspaceId)
  return paused
}

export async function releaseSender(context: Context, workspaceId: string, id: string): Promise<Sender> {
  const resumed = await context.db.transaction((tx) => resumeSender(tx, workspaceId, id))
  if (!resumed) throw notFound()
  context.log.info({ sender: id }, 'sender resumed')
  context.sendersChanged(workspaceId)
  context.wake()
  return resumed
}

async function readFields(context: Context, input: SenderInput, known: Sender | null): Promise<SenderFields> {
  const problems: Problem[] = []
  const mailbox = input.address === undefined ? null : parseMailbox(input.address)
  if (input.address !== undefined && !mailbox)
    problems.push({ path: ['address'], detail: 'must be one address, such as ada@example.com' })
  if (input.address === undefined && !known) problems.push({ path: ['address'], detail: 'is needed' })
  if (input.name && (input.name.length > 200 || /[\p{Cc}\u2028\u2029]/u.test(input.name)))
    problems.push({ path: ['name'], detail: 'must be at most 200 characters without control characters' })
  // Without a server of its own it uses the one of the settings.
  const provider = input.provider ?? (input.smtpUrl === undefined ? (known?.provider ?? 'smtp') : 'smtp')
  const credentials = provider === 'smtp' ? readCredentials(context, input, known, problems) : null
  if (input.isDefault === false && known?.isDefault)
    problems.push({ path: ['isDefault'], detail: 'make another sender the default instead' })
  const pace = input.pace === undefined ? (known?.pace ?? null) : input.pace && readPaceOf(input.pace, problems)
  if (problems.length > 0) throw new PostriderError('sender_invalid', sayProblems(problems), { problems })
  const address = mailbox?.address ?? known!.address
  return {
    name: input.name === undefined ? (mailbox?.name ?? known?.name ?? null) : input.name,
    address,
    foldedAddress: foldAddress(address),
    provider,
    credentials,
    isDefault: input.isDefault ?? known?.isDefault ?? false,
    pace,
    // Kept once it is set: who switches ramp-up off and on again does not start from the bottom.
    rampUpFrom: known?.rampUpFrom ?? (pace?.rampUpEnabled ? localDayOf(pace, await readNow(context.db)) : null),
  }
}

function readPaceOf(input: PaceInput, problems: Problem[]): Pace | null {
  const read = readPace(input)
  if (read.problems) problems.push(...read.problems.map(({ path, detail }) => ({ path: ['pace', ...path], detail })))
  return read.pace ?? null
}

function readCredentials(
  context: Context,
  { smtpUrl, dkim }: SenderInput,
  known: Sender | null,
  problems: Problem[],
): string | null {
  const sealed = known?.credentials ?? null
  if (smtpUrl === undefined && dkim === undefined) return sealed
  if (known?.followsSettings) {
    const path = [smtpUrl === undefined ? 'dkim' : 'smtpUrl']
    problems.push({ path, detail: 'is a setting for this sender (SMTP_URL, DKIM_…); make another sender instead' })
    return sealed
  }
  const before = sealed === null ? null : context.openCredentials(sealed)
  const url = smtpUrl ?? before?.smtpUrl
  if (url === undefined) {
    problems.push({
      path: ['smtpUrl'],
      detail: 'is needed: the mail server of the settings signs with DKIM_PRIVATE_KEY',
    })
    return null
  }
  try {
    return context.sealCredentials({ smtpUrl: url, dkim: dkim === undefined ? (before?.dkim ?? null) : dkim })
  } catch (error) {
    problems.push({ path: [smtpUrl === undefined ? 'dkim' : 'smtpUrl'], detail: (error as Error).message })
    return null
  }
}

/** Also of a campaign that is over: its emails are shown with their sender, and may be retried. */
async function stillUsed({ db }: Context, workspaceId: string, id: string): Promise<PostriderError> {
  const names = await findCampaignsOfSender(db, workspaceId, id)
  if (names.length === 0) return notFound()
  const quoted = names.map((name) => JSON.stringify(name)).join(', ')
  return new PostriderError(
    'sender_conflict',
    `The sender is what a campaign goes out as (${quoted}). Pause it, or give that draft another sender.`,
  )
}

const notFound = () => new PostriderError('sender_not_found', 'There is no such sender.')
const addressTaken = () => new PostriderError('sender_conflict', 'Another sender of this workspace has this address.')
