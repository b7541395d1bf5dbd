import type { z } from '@hono/zod-openapi'
import type { EmailFilter } from '../db/email-filter.js'
import { foldAddress } from '../domain/address.js'
import { type IdPrefix, readId } from '../id.js'
import { readInstant } from '../operations/prepare-email.js'
import { emailStatus, emailSummarySchema } from './email-json.js'
import { searchedListOf } from './pagination.js'
import { type InputProblem, refusal } from './problem.js'
import { text } from './read-input.js'

/** Which emails are meant, and how a page of them is written. */
const instant = (description: string) => text(100).optional().openapi({ format: 'date-time', description })

export const emailFilterShape = {
  status: emailStatus.optional(),
  to: text(1_000).optional().openapi({ description: 'One recipient’s address.' }),
  q: text(1_000).optional().openapi({ description: 'Part of the subject or of an address.' }),
  campaign_id: text(1_000).optional().openapi({ description: 'Those of one campaign.' }),
  sender_id: text(1_000).optional().openapi({ description: 'Those that go out as one sender.' }),
  reason_code: text(1_000).optional().openapi({
    description:
      'What happened last, by its code: recipient, sender, message, attempts_exhausted, transient, throttled, …',
    example: 'recipient',
  }),
  created_after: instant('Made at or after this instant, by the time in its id.'),
  created_before: instant('Made before this instant, by the time in its id.'),
}

type Given = { readonly [Name in keyof typeof emailFilterShape]?: z.output<(typeof emailFilterShape)[Name]> }

/** `prefix`: where in the request it stands. */
export function readEmailFilter(given: Given, place: InputProblem['in'], prefix: readonly string[] = []): EmailFilter {
  const problems: InputProblem[] = []
  const refuse = (path: readonly (string | number)[], detail: string) =>
    void problems.push({ in: place, path: [...prefix, ...path], detail })
  const reference = (name: 'campaign_id' | 'sender_id', kind: IdPrefix) => {
    const id = readId(kind, given[name]!)
    if (id === null) refuse([name], `must be an id such as ${kind}_0123…`)
    return id ?? ''
  }
  const instantOf = (name: 'created_after' | 'created_before') =>
    given[name] === undefined ? null : readInstant(given[name], name, refuse)
  const [createdAfter, createdBefore] = [instantOf('created_after'), instantOf('created_before')]
  const filter = {
    ...(given.status !== undefined && { status: given.status }),
    ...(given.to !== undefined && { to: foldAddress(given.to) }),
    ...(given.q !== undefined && { q: given.q }),
    ...(given.reason_code !== undefined && { reasonCode: given.reason_code }),
    ...(given.campaign_id !== undefined && { campaignId: reference('campaign_id', 'cmp') }),
    ...(given.sender_id !== undefined && { senderId: reference('sender_id', 'snd') }),
    ...(createdAfter && { createdAfter }),
    ...(createdBefore && { createdBefore }),
  }
  if (problems.length > 0) throw refusal(problems)
  return filter
}

export const emailListSchema = searchedListOf(emailSummarySchema)
