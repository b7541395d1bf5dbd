import { readNow } from '../db/sender-days.js'
import { findSender } from '../db/senders.js'
import { localDayOf } from '../domain/pace.js'
import { type PacePreview, previewPace } from '../domain/preview-pace.js'
import { type PaceInput, readPace } from '../domain/read-pace.js'
import { PostriderError } from '../errors.js'
import type { Context } from './context.js'

/** What a sender with this pace would do from now on. Nothing is saved and nothing booked. */
export async function previewOfPace(
  { db, random }: Context,
  workspaceId: string,
  input: PaceInput,
  senderId?: string,
): Promise<PacePreview & { readonly timezone: string }> {
  const { pace, problems } = readPace(input)
  if (problems)
    throw new PostriderError('sender_invalid', 'This pace cannot be kept.', {
      problems: problems.map(({ path, detail }) => ({ path: ['pace', ...path], detail })),
    })
  const now = await readNow(db)
  const sender = senderId === undefined ? null : await findSender(db, workspaceId, senderId)
  if (senderId !== undefined && !sender) throw new PostriderError('sender_not_found', 'There is no such sender.')
  const rampUpFrom = pace.rampUpEnabled ? (sender?.rampUpFrom ?? localDayOf(pace, now)) : null
  return { ...previewPace(pace, rampUpFrom, now, random), timezone: pace.timezone }
}
