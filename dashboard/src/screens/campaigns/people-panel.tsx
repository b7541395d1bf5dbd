import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { UserPlus } from 'lucide-react'
import { useState } from 'react'
import { api, ask } from '../../api/client'
import { useMayAct } from '../../shell/session'
import { Button } from '../../ui/button'
import { Confirm } from '../../ui/dialog'
import { Choice } from '../../ui/field'
import { Panel } from '../../ui/panel'
import { say } from '../../ui/toasts'
import { ENROLL_WITHIN_MS, type Campaign, listChoices, type Progress } from './campaign-queries'
import { showNumber } from '../../ui/number'

type People = NonNullable<Progress['people']>

const WALKS: readonly (readonly [keyof People, string])[] = [
  ['active', 'on their way'],
  ['paused', 'paused by somebody'],
  ['completed', 'at the end'],
  ['stopped', 'stopped: they answered, bounced, left, or somebody stopped them'],
  ['not_enrolled', 'on the list, and not looked at yet'],
]
const PASSED_OVER: readonly (readonly [keyof People, string])[] = [
  ['unsubscribed', 'opted out of the list'],
  ['suppressed', 'must not be mailed'],
  ['enrolled_before', 'walk this sequence already, or have'],
]

/** Of a sequence: where its people are, who was passed over and why, and more of them. */
export function PeoplePanel({ campaign, people }: { readonly campaign: Campaign; readonly people: People }) {
  const mayAct = useMayAct()
  const [asked, setAsked] = useState<'list' | 'again' | null>(null)
  const mayEnroll = mayAct && ['running', 'paused', 'sent'].includes(campaign.status)
  const close = () => setAsked(null)
  return (
    <Panel
      title="People"
      actions={
        mayEnroll && (
          <>
            <Button small onClick={() => setAsked('again')}>
              Enroll who joined the list
            </Button>
            <Button small icon={<UserPlus />} onClick={() => setAsked('list')}>
              Enroll another list
            </Button>
          </>
        )
      }
    >
      <div className="grid gap-5 sm:grid-cols-2">
        <Tally title="Enrolled" rows={WALKS} people={people} />
        <Tally title="Passed over" rows={PASSED_OVER} people={people} />
      </div>
      <p className="mt-4 flex flex-wrap gap-x-4 gap-y-1 text-sm">
        <Link
          to="/sequences/$id"
          params={{ id: campaign.sequence_id! }}
          search={{ campaign: campaign.id } as never}
          className="underline"
        >
          The sequence, and where they are in it
        </Link>
        <Link to="/calendar" search={{ campaign: campaign.id } as never} className="underline">
          What goes out when
        </Link>
      </p>
      {asked === 'list' && <EnrollList campaign={campaign} onClose={close} />}
      {asked === 'again' && <EnrollAgain campaign={campaign} onClose={close} />}
    </Panel>
  )
}

const Tally = ({
  title,
  rows,
  people,
}: {
  readonly title: string
  readonly rows: readonly (readonly [keyof People, string])[]
  readonly people: People
}) => (
  <div>
    <h3 className="mb-1 text-xs font-semibold text-soft">{title}</h3>
    <table className="w-full text-sm">
      <tbody>
        {rows.map(([name, what]) => (
          <tr key={name}>
            <td className="w-14 py-1 pr-3 text-right align-top font-medium tabular-nums" data-people={name}>
              {showNumber(people[name])}
            </td>
            <th scope="row" className="py-1 text-left font-normal text-soft">
              {what}
            </th>
          </tr>
        ))}
      </tbody>
    </table>
  </div>
)

interface AskedFor {
  readonly campaign: Campaign
  readonly onClose: () => void
}

function EnrollList({ campaign, onClose }: AskedFor) {
  const client = useQueryClient()
  const { data: lists } = useQuery(listChoices)
  const [listId, setListId] = useState('')
  const list = lists?.find(({ id }) => id === listId)
  const enroll = async () => {
    const params = { path: { id: campaign.id } }
    const { enrolled } = await ask(
      api.POST('/api/campaigns/{id}/enroll', { params, body: { list_id: listId, within_ms: ENROLL_WITHIN_MS } }),
    )
    await client.invalidateQueries({ queryKey: ['campaigns'] })
    say(`${showNumber(enrolled)} enrolled so far; the others follow by themselves`)
  }
  return (
    <Confirm
      open
      onClose={onClose}
      title="Enroll another list"
      lead="Whoever walks this sequence already, or has, is passed over; so is who opted out or is suppressed."
      action={list ? `Enroll up to ${showNumber(list.subscribed)} people` : 'Choose a list first'}
      disabled={!list}
      run={enroll}
    >
      <Choice label="List" value={listId} onChange={(event) => setListId(event.target.value)}>
        <option value="">Choose a list</option>
        {lists?.map(({ id, name, subscribed }) => (
          <option key={id} value={id}>
            {name} ({showNumber(subscribed)})
          </option>
        ))}
      </Choice>
    </Confirm>
  )
}

function EnrollAgain({ campaign, onClose }: AskedFor) {
  const client = useQueryClient()
  const look = async () => {
    const params = { path: { id: campaign.id } }
    const { scheduled, remaining = 0 } = await ask(
      api.POST('/api/campaigns/{id}/schedule', { params, body: { within_ms: ENROLL_WITHIN_MS } }),
    )
    await client.invalidateQueries({ queryKey: ['campaigns'] })
    say(
      `${showNumber(scheduled)} emails planned${remaining > 0 ? `; ${showNumber(remaining)} people follow by themselves` : ''}`,
    )
  }
  return (
    <Confirm
      open
      onClose={onClose}
      title="Enroll who joined the list?"
      lead="The list is looked at once more. Whoever joined since is enrolled, and nobody twice."
      action="Look at the list again"
      run={look}
    />
  )
}
