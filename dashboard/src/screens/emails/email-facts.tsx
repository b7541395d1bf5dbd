import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { api, ask } from '../../api/client'
import type { Shape } from '../../api/types'
import { LongBadge } from '../../ui/badge'
import { CopyButton } from '../../ui/code'
import { Facts, Panel } from '../../ui/panel'
import { Time } from '../../ui/time'

type Email = Shape<'Email'>

/** Where it belongs, and by which rules it is sent. */
export function EmailFacts({ email }: { readonly email: Email }) {
  const { contact_id: contactId, campaign_id: campaignId, enrollment_id: enrollmentId, step } = email
  const facts: (readonly [string, ReactNode] | false)[] = [
    ['Sender', <SenderLink key="sender" id={email.sender_id} />],
    campaignId !== null && [
      'Campaign',
      <Link key="campaign" to="/campaigns/$id" params={{ id: campaignId }} className="underline underline-offset-2">
        {email.campaign_name ?? campaignId}
      </Link>,
    ],
    contactId !== null && [
      'Contact',
      <Link key="contact" to="/contacts/$id" params={{ id: contactId }} className="underline underline-offset-2">
        {email.to[0] ?? contactId}
      </Link>,
    ],
    enrollmentId !== null && [
      'Sequence',
      <Link key="walk" to="/enrollments/$id" params={{ id: enrollmentId }} className="underline underline-offset-2">
        {step ? `step ${step.number} (${step.node}) of this walk` : 'this walk'}
      </Link>,
    ],
    contactId === null && [
      'Others',
      <Link
        key="others"
        to="/email-queue"
        search={{ to: email.deliveries[0]?.recipient } as never}
        className="underline underline-offset-2"
      >
        all emails to {email.deliveries[0]?.recipient}
      </Link>,
    ],
    ['Made', <Time key="made" at={email.created_at} />],
    email.scheduled_at !== null && ['To be sent', <Time key="scheduled" at={email.scheduled_at} />],
    email.expires_at !== null && ['Not after', <Time key="expires" at={email.expires_at} />],
    email.retry_policy !== null && ['Retries', `by the policy ${email.retry_policy}`],
    ['If uncertain', email.on_uncertain === 'hold' ? 'held until somebody decides' : 'sent again by itself'],
    email.delivery === 'inline' && ['First attempt', 'within the request'],
    email.tags.length > 0 && [
      'Tags',
      <span key="tags" className="flex flex-wrap gap-1">
        {email.tags.map(({ name, value }) => (
          <LongBadge key={name}>
            {name}: {value}
          </LongBadge>
        ))}
      </span>,
    ],
    ['Message-ID', <Copyable key="message" text={email.message_id} />],
    ['Id', <Copyable key="id" text={email.id} />],
  ]
  return (
    <Panel title="About it">
      <Facts facts={facts.filter((fact) => fact !== false)} />
    </Panel>
  )
}

const Copyable = ({ text }: { readonly text: string }) => (
  <span className="flex min-w-0 items-start gap-1">
    <code className="min-w-0 font-mono text-xs break-all">{text}</code>
    <CopyButton text={text} label={`Copy ${text}`} />
  </span>
)

function SenderLink({ id }: { readonly id: string }) {
  const sender = useQuery({
    queryKey: ['senders', id],
    queryFn: () => ask(api.GET('/api/senders/{id}', { params: { path: { id } } })),
    staleTime: 60_000,
  })
  return (
    <Link to="/senders/$id" params={{ id }} className="break-words underline underline-offset-2">
      {sender.data?.address ?? id}
    </Link>
  )
}
