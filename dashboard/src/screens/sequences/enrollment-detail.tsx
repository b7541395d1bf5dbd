import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { Pause, Play, Square } from 'lucide-react'
import { useState } from 'react'
import { api, ask } from '../../api/client'
import type { Shape } from '../../api/types'
import { useMayAct } from '../../shell/session'
import { StatusBadge } from '../../ui/badge'
import { Button } from '../../ui/button'
import { Confirm } from '../../ui/dialog'
import { Facts, PageHead, Panel } from '../../ui/panel'
import { QueryView } from '../../ui/query-view'
import { Time, ZoneSwitch } from '../../ui/time'
import { campaignQuery } from '../campaigns/campaign-queries'
import { senderQuery } from '../senders/sender-queries'
import { sequenceQuery } from './sequence-queries'
import { whereIs } from './where-is'

export function EnrollmentDetail() {
  const { id } = useParams({ strict: false }) as { id: string }
  const walk = useQuery({
    queryKey: ['enrollments', 'one', id],
    queryFn: () => ask(api.GET('/api/enrollments/{id}', { params: { path: { id } } })),
  })
  return <QueryView query={walk}>{(data) => <Detail walk={data} />}</QueryView>
}

function Detail({ walk }: { readonly walk: Shape<'Enrollment'> }) {
  const client = useQueryClient()
  const mayAct = useMayAct() && walk.finished_at === null
  const [stopping, setStopping] = useState(false)
  const path = { params: { path: { id: walk.id } } }
  const refresh = () => client.invalidateQueries({ queryKey: ['enrollments'] })
  const steer = useMutation({
    mutationFn: () =>
      ask(
        walk.state === 'paused'
          ? api.POST('/api/enrollments/{id}/resume', path)
          : api.POST('/api/enrollments/{id}/pause', path),
      ),
    onSuccess: refresh,
  })
  const contact = useQuery({
    queryKey: ['contacts', walk.contact_id],
    queryFn: () => ask(api.GET('/api/contacts/{id}', { params: { path: { id: walk.contact_id } } })),
    retry: false,
  }).data
  const campaign = useQuery({ ...campaignQuery(walk.campaign_id), retry: false }).data
  const sequence = useQuery({ ...sequenceQuery(walk.sequence_id), retry: false }).data
  const sender = useQuery({ ...senderQuery(walk.sender_id), retry: false }).data
  const next = walk.finished_at === null ? walk.emails.find(({ status }) => status !== 'sent') : undefined
  return (
    <>
      <PageHead
        title={`${contact?.name ?? contact?.email ?? 'Somebody'} in ${sequence?.name ?? 'a sequence'}`}
        lead={
          <span className="flex flex-wrap items-center gap-2">
            <StatusBadge status={walk.state} /> {walk.explain}
          </span>
        }
        actions={
          mayAct && (
            <>
              <Button
                icon={walk.state === 'paused' ? <Play /> : <Pause />}
                busy={steer.isPending}
                onClick={() => steer.mutate()}
              >
                {walk.state === 'paused' ? 'Resume' : 'Pause'}
              </Button>
              <Button tone="danger" icon={<Square />} onClick={() => setStopping(true)}>
                Stop for good
              </Button>
            </>
          )
        }
      />
      <div className="grid gap-4 lg:grid-cols-[20rem_1fr]">
        <Panel title="Walk">
          <Facts
            facts={[
              ['Where', whereIs({ ...walk, next: next?.step ? { ...next, node: next.step.node } : null })],
              [
                'Contact',
                <Link key="c" to="/contacts/$id" params={{ id: walk.contact_id }} className="underline">
                  {contact?.email ?? walk.contact_id}
                </Link>,
              ],
              [
                'Campaign',
                <Link key="m" to="/campaigns/$id" params={{ id: walk.campaign_id }} className="underline">
                  {campaign?.name ?? walk.campaign_id}
                </Link>,
              ],
              [
                'Sequence',
                <Link key="s" to="/sequences/$id" params={{ id: walk.sequence_id }} className="underline">
                  {sequence?.name ?? walk.sequence_id}
                </Link>,
              ],
              [
                'Sender',
                <Link key="d" to="/senders/$id" params={{ id: walk.sender_id }} className="underline">
                  {sender?.name ?? sender?.address ?? walk.sender_id}
                </Link>,
              ],
              ['Begun', <Time key="b" at={walk.created_at} />],
              ['Moved', <Time key="v" at={walk.moved_at} />],
              ['Over', <Time key="f" at={walk.finished_at} empty="not yet" />],
            ]}
          />
        </Panel>
        <Panel title="Its emails" actions={<ZoneSwitch />} flush>
          {walk.emails.length === 0 && <p className="p-4 text-sm text-soft">None is planned yet.</p>}
          <ol className="divide-y">
            {walk.emails.map((email) => (
              <li key={email.id} className="flex flex-wrap items-center gap-x-4 gap-y-1 px-4 py-3 text-sm">
                <StatusBadge status={email.status} />
                <Link to="/emails/$id" params={{ id: email.id }} className="min-w-0 flex-1 hover:underline">
                  {email.step ? `${email.step.number}. ${email.step.node}` : email.id}
                </Link>
                {email.reason !== null && <span className="text-soft">{email.reason}</span>}
                <span>
                  {email.sent_at === null ? (
                    <>
                      due <Time at={email.scheduled_at} />
                    </>
                  ) : (
                    <>
                      sent <Time at={email.sent_at} />
                    </>
                  )}
                </span>
              </li>
            ))}
          </ol>
        </Panel>
      </div>
      <Confirm
        open={stopping}
        onClose={() => setStopping(false)}
        title="Stop this walk for good?"
        lead="What has not gone out never will. This cannot be undone."
        action="Stop walk"
        tone="danger"
        run={async () => {
          await ask(api.POST('/api/enrollments/{id}/stop', path))
          await refresh()
        }}
      />
    </>
  )
}
