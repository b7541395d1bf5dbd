import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { Pause, Play, PlugZap, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { api, ask } from '../../api/client'
import { useMayAct } from '../../shell/session'
import { StatusBadge } from '../../ui/badge'
import { Button } from '../../ui/button'
import { Confirm } from '../../ui/dialog'
import { TextField } from '../../ui/field'
import { Facts, PageHead, Panel } from '../../ui/panel'
import { QueryView } from '../../ui/query-view'
import { Time } from '../../ui/time'
import { say } from '../../ui/toasts'
import { PaceEditor } from './pace-editor'
import { QuotaBar } from './quota-bar'
import { refreshSenders, type Sender, senderQuery } from './sender-queries'
import { SenderTest } from './sender-test'

export function SenderDetail() {
  const { id } = useParams({ strict: false }) as { id: string }
  return <QueryView query={useQuery(senderQuery(id))}>{(sender) => <Detail sender={sender} />}</QueryView>
}

function Detail({ sender }: { readonly sender: Sender }) {
  const mayAct = useMayAct()
  const [asked, setAsked] = useState<'pause' | 'remove' | null>(null)
  const [testing, setTesting] = useState(false)
  const [reason, setReason] = useState('')
  const client = useQueryClient()
  const navigate = useNavigate()
  const { id } = sender
  const path = { params: { path: { id } } }
  const resume = useMutation({
    mutationFn: () => ask(api.POST('/api/senders/{id}/resume', path)),
    async onSuccess() {
      say('The sender goes on. What waited is sent.')
      await refreshSenders(client)
    },
  })
  const makeDefault = useMutation({
    mutationFn: () => ask(api.PATCH('/api/senders/{id}', { ...path, body: { is_default: true } })),
    onSuccess: () => refreshSenders(client),
  })
  const isPaused = sender.paused_at !== null
  return (
    <>
      <PageHead
        title={sender.name ?? sender.address}
        lead={
          <span className="flex flex-wrap items-center gap-2">
            <StatusBadge status={isPaused ? 'paused' : 'active'} />
            {[sender.name !== null && sender.address, sender.is_default && 'default'].filter(Boolean).join(' · ')}
          </span>
        }
        actions={
          mayAct && (
            <>
              <Button icon={<PlugZap />} onClick={() => setTesting(true)}>
                Test
              </Button>
              {isPaused ? (
                <Button tone="primary" icon={<Play />} busy={resume.isPending} onClick={() => resume.mutate()}>
                  Resume
                </Button>
              ) : (
                <Button icon={<Pause />} onClick={() => setAsked('pause')}>
                  Pause
                </Button>
              )}
              {!sender.is_default && (
                <>
                  <Button busy={makeDefault.isPending} onClick={() => makeDefault.mutate()}>
                    Make default
                  </Button>
                  <Button tone="danger" icon={<Trash2 />} onClick={() => setAsked('remove')}>
                    Remove
                  </Button>
                </>
              )}
            </>
          )
        }
      />
      {isPaused && (
        <p role="status" className="mb-4 rounded-lg border border-warn/30 bg-warn-soft p-3 text-sm text-ink">
          <strong className="text-warn">Paused</strong> since <Time at={sender.paused_at} />: {sender.paused_reason}{' '}
          What it would send waits; nothing is lost.
        </p>
      )}
      <div className="grid gap-4 xl:grid-cols-[22rem_1fr]">
        <div className="flex flex-col gap-4">
          {sender.pace?.daily_quota != null && (
            <Panel title="Today">
              <QuotaBar senderId={id} />
            </Panel>
          )}
          <Panel title="How it sends">
            <Facts
              facts={[
                ['Provider', sender.provider === 'capture' ? 'Inbox (captured, never sent)' : 'SMTP'],
                [
                  'Credentials',
                  sender.provider === 'capture'
                    ? 'none needed'
                    : sender.has_credentials
                      ? 'its own, encrypted'
                      : 'those of SMTP_URL',
                ],
                [
                  'Emails',
                  <Link key="emails" to="/email-queue" search={{ sender_id: id } as never} className="underline">
                    in the queue
                  </Link>,
                ],
                ['Made', <Time key="made" at={sender.created_at} />],
                ['Changed', <Time key="changed" at={sender.updated_at} />],
                [
                  'Id',
                  <code key="id" className="font-mono text-xs">
                    {id}
                  </code>,
                ],
              ]}
            />
          </Panel>
        </div>
        <PaceEditor key={sender.updated_at} sender={sender} mayAct={mayAct} />
      </div>
      <Confirm
        open={asked === 'pause'}
        onClose={() => setAsked(null)}
        title="Pause this sender?"
        lead="What it would send waits until it is resumed. What is on the wire at this moment is finished."
        action="Pause"
        run={async () => {
          await ask(api.POST('/api/senders/{id}/pause', { ...path, body: reason ? { reason } : {} }))
          await refreshSenders(client)
        }}
      >
        <TextField
          label="Reason, for whoever looks next"
          value={reason}
          onChange={(event) => setReason(event.target.value)}
        />
      </Confirm>
      <Confirm
        open={asked === 'remove'}
        onClose={() => setAsked(null)}
        title={`Remove ${sender.address}?`}
        lead="Its credentials are forgotten. A sender that something still waits for cannot be removed."
        action="Remove sender"
        tone="danger"
        run={async () => {
          await ask(api.DELETE('/api/senders/{id}', path))
          await navigate({ to: '/senders' })
          await refreshSenders(client)
        }}
      />
      {testing && <SenderTest sender={sender} onClose={() => setTesting(false)} />}
    </>
  )
}
