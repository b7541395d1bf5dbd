import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Facts, Panel } from '../../ui/panel'
import { Time } from '../../ui/time'
import { templateQuery } from '../templates/template-queries'
import { type Campaign, listQuery, senderChoices, sequenceChoices } from './campaign-queries'
import { showNumber } from '../../ui/number'

/** What it is made of. */
export function CampaignFacts({ campaign }: { readonly campaign: Campaign }) {
  const { data: list } = useQuery(listQuery(campaign.list_id))
  const { data: template } = useQuery({
    ...templateQuery(campaign.template_id ?? ''),
    enabled: campaign.template_id !== null,
  })
  const { data: sequences } = useQuery({ ...sequenceChoices, enabled: campaign.sequence_id !== null })
  const { data: senders } = useQuery(senderChoices)
  const sequence = sequences?.find(({ id }) => id === campaign.sequence_id)
  const senderOf = (id: string) => {
    const sender = senders?.find((one) => one.id === id)
    return sender ? (sender.name === null ? sender.address : `${sender.name} <${sender.address}>`) : id
  }
  const facts: (readonly [string, ReactNode])[] = [
    [
      'To',
      <Link key="list" to="/lists/$id" params={{ id: campaign.list_id }} className="underline">
        {list
          ? `${list.name} (${showNumber(list.subscribed)} subscribed of ${showNumber(list.members)})`
          : campaign.list_id}
      </Link>,
    ],
    campaign.template_id === null
      ? [
          'Sequence',
          <Link key="sequence" to="/sequences/$id" params={{ id: campaign.sequence_id ?? '' }} className="underline">
            {sequence?.name ?? campaign.sequence_id}
            {campaign.sequence_version !== null && `, version ${campaign.sequence_version}`}
          </Link>,
        ]
      : [
          'Template',
          <Link key="template" to="/templates/$id" params={{ id: campaign.template_id }} className="underline">
            {template?.name ?? campaign.template_id}
            {campaign.template_version === null ? ', its newest version' : `, version ${campaign.template_version}`}
          </Link>,
        ],
    [
      'As',
      <span key="senders" className="flex flex-col">
        {campaign.sender_ids.map((id) => (
          <Link key={id} to="/senders/$id" params={{ id }} className="underline">
            {senderOf(id)}
          </Link>
        ))}
      </span>,
    ],
    ...(campaign.reply_to === null ? [] : [['Answers go to', campaign.reply_to] as const]),
    ['Keeps to the pace', campaign.sequence_id !== null || campaign.follow_pace ? 'yes' : 'no'],
    ...(campaign.sequence_id === null
      ? ([
          ['Hourly limit', campaign.hourly_limit === null ? 'none' : showNumber(campaign.hourly_limit)],
          ['Planned at a time', showNumber(campaign.batch_size)],
        ] as const)
      : []),
    ['Starts', <Time key="starts" at={campaign.scheduled_at} empty="at once, when launched" />],
    ['Expires', <Time key="expires" at={campaign.expires_at} empty="never" />],
    ['Made', <Time key="made" at={campaign.created_at} />],
    ...(campaign.started_at === null ? [] : [['Started', <Time key="started" at={campaign.started_at} />] as const]),
    ...(campaign.finished_at === null ? [] : [['Ended', <Time key="ended" at={campaign.finished_at} />] as const]),
    [
      'Id',
      <code key="id" className="font-mono text-xs break-all">
        {campaign.id}
      </code>,
    ],
  ]
  return (
    <Panel title="What it is">
      <Facts facts={facts} />
    </Panel>
  )
}
