import type { Campaign } from '../db/campaigns.js'
import { OPEN_PACE } from '../domain/pace.js'
import type { Sender } from '../db/senders.js'
import type { SimulationTally } from './simulate-campaign.js'

/** What has to be true for a simulation to come true, and whom it says nothing about; in sentences. */
export function describeAssumptions(
  campaign: Campaign,
  senders: readonly Sender[],
  tally: SimulationTally,
  until: Date,
): string[] {
  const { status, expiresAt } = campaign
  if (status === 'canceled') return ['The campaign is canceled: nothing of it goes out any more.']
  if (status === 'sent') return ['The campaign is over: nothing of it is left to go out.']
  const isSequence = campaign.sequenceId !== null
  const paused = senders.filter(({ pausedReason }) => pausedReason !== null)
  return [
    ...describeStart(campaign),
    ...(paused.length > 0 ? [`As if ${paused.map(({ address }) => address).join(', ')} were resumed now.`] : []),
    isSequence
      ? 'Nobody answers: whoever waits for something waits until its timeout, and no email bounces.'
      : 'Every email goes out when it is planned: how long handing them over takes is not in it.',
    'Nobody joins or leaves the list, and no pace is changed.',
    ...(isSequence ? ['Other campaigns of the same senders book nothing more than they have booked.'] : []),
    ...(isSequence && senders.some(hasDice)
      ? [
          'The gaps between emails are dice: here they fall the same way at every look, when it is sent they fall anew. ' +
            'So seconds differ; days and order do not, but for an email at the end of a full day.',
        ]
      : []),
    ...(!isSequence && !campaign.followPace ? ['It does not follow the pace of its sender.'] : []),
    ...people(tally.paused, 'is paused and stays so', 'are paused and stay so'),
    ...people(
      tally.undecided,
      'waits for you to decide about an email that failed or is uncertain',
      'wait for you to decide about an email that failed or is uncertain',
    ),
    ...people(tally.not_mailed, 'under way gets nothing more', 'under way get nothing more'),
    ...people(
      tally.unsubscribed + tally.suppressed,
      'is left out: unsubscribed or suppressed',
      'are left out: unsubscribed or suppressed',
    ),
    ...people(tally.enrolledBefore, 'has been enrolled before', 'have been enrolled before'),
    ...people(tally.withoutSlot, 'finds no free day within two years', 'find no free day within two years'),
    ...people(
      tally.expired,
      "is cut off by the campaign's expires_at before the end",
      "are cut off by the campaign's expires_at before the end",
    ),
    ...(expiresAt && expiresAt > until
      ? ['What lies beyond the last day is counted without regard to the expires_at of the campaign.']
      : []),
  ]
}

function describeStart({ status, scheduledAt, startedAt }: Campaign): string[] {
  const at = scheduledAt && !startedAt ? `at ${scheduledAt.toISOString()}` : 'now'
  if (status === 'draft')
    return [`The campaign is a draft: as if it were launched now${at === 'now' ? '' : `, to start ${at}`}.`]
  if (status === 'paused')
    return [`The campaign is paused: as if it were resumed now${at === 'now' ? '' : `, to start ${at}`}.`]
  return status === 'scheduled' ? [`The campaign starts ${at}.`] : []
}

const people = (count: number, one: string, several: string): string[] =>
  count === 0 ? [] : [count === 1 ? `1 person ${one}.` : `${count} people ${several}.`]

const hasDice = ({ pace }: Sender): boolean => {
  const { gapMinSeconds, gapMaxSeconds } = pace ?? OPEN_PACE
  return gapMinSeconds < gapMaxSeconds
}
