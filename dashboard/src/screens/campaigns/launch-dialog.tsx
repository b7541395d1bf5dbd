import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, ask } from '../../api/client'
import { Confirm } from '../../ui/dialog'
import { InstantField } from '../../ui/instant-field'
import { Loading } from '../../ui/spinner'
import { formatTime, useZone } from '../../ui/time'
import { say } from '../../ui/toasts'
import { ENROLL_WITHIN_MS, type Campaign, listQuery, preflightQuery, type Progress } from './campaign-queries'
import { CheckList } from './preflight-panel'
import { showNumber } from '../../ui/number'

/** Now, or at a time; to how many; and what keeps it from it. */
export function LaunchDialog({
  campaign,
  progress,
  onClose,
}: {
  readonly campaign: Campaign
  readonly progress: Progress
  readonly onClose: () => void
}) {
  const client = useQueryClient()
  const zone = useZone()
  const [when, setWhen] = useState<'now' | 'later'>(campaign.scheduled_at === null ? 'now' : 'later')
  const [at, setAt] = useState(campaign.scheduled_at)
  const { data: list } = useQuery(listQuery(campaign.list_id))
  const { data: preflight } = useQuery(preflightQuery(campaign))
  const wanted = list?.subscribed ?? progress.counts.audience
  const people = wanted === 1 ? '1 person' : `${showNumber(wanted)} people`
  const notable = preflight?.checks.filter(({ level }) => level !== 'ok') ?? []

  const launch = async () => {
    const params = { path: { id: campaign.id } }
    const launched =
      when === 'now'
        ? await ask(
            api.POST('/api/campaigns/{id}/launch', {
              params,
              body: { scheduled_at: null, within_ms: ENROLL_WITHIN_MS },
            }),
          )
        : await ask(
            api.POST('/api/campaigns/{id}/schedule', {
              params,
              body: { scheduled_at: at, within_ms: ENROLL_WITHIN_MS },
            }),
          )
    await client.invalidateQueries({ queryKey: ['campaigns'] })
    say(launched.status === 'scheduled' ? 'It is scheduled' : 'It is under way')
  }
  return (
    <Confirm
      open
      onClose={onClose}
      title={`Launch ${campaign.name}`}
      lead={
        list
          ? `${people} on ${list.name} have not opted out${list.members > list.subscribed ? `, ${showNumber(list.members - list.subscribed)} have` : ''}. Who is suppressed is left out as well.`
          : `It goes to ${people}.`
      }
      action={
        when === 'now'
          ? `Launch now, to ${people}`
          : at === null
            ? 'Choose a time first'
            : `Schedule for ${formatTime(at, zone, 'short')}`
      }
      run={launch}
      // With another time than the one it was checked for, the launch itself decides.
      disabled={when === 'later' ? at === null : preflight?.ok === false && campaign.scheduled_at === null}
    >
      <fieldset className="flex flex-col gap-2 text-sm">
        <legend className="sr-only">When it starts</legend>
        {(['now', 'later'] as const).map((one) => (
          <label key={one} className="inline-flex items-center gap-2">
            <input
              type="radio"
              name="when"
              checked={when === one}
              onChange={() => setWhen(one)}
              className="size-4 accent-(--accent)"
            />
            {one === 'now' ? 'Start now' : 'Start at a time'}
          </label>
        ))}
        {when === 'later' && <InstantField label="Start" value={at} onChange={setAt} />}
      </fieldset>
      {preflight === undefined ? (
        <Loading what="Checking" />
      ) : notable.length === 0 ? (
        <p className="text-sm text-good">All checks passed.</p>
      ) : (
        <CheckList checks={notable} campaign={campaign} />
      )}
    </Confirm>
  )
}
