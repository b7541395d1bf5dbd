import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { Ban, Pause, Pencil, Play, Rocket, Send, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { api, ask } from '../../api/client'
import { useMayAct } from '../../shell/session'
import { Button } from '../../ui/button'
import { Confirm } from '../../ui/dialog'
import { say } from '../../ui/toasts'
import { TestSendDialog } from '../templates/test-send'
import { openOf } from './campaign-counts'
import type { Campaign, Progress } from './campaign-queries'
import { LaunchDialog } from './launch-dialog'
import { showNumber } from '../../ui/number'

type Asked = 'launch' | 'test' | 'pause' | 'resume' | 'cancel' | 'remove'

/** What can be done to a campaign as it is now; what reaches or stops many people is asked about first. */
export function CampaignActions({ campaign, progress }: { readonly campaign: Campaign; readonly progress: Progress }) {
  const mayAct = useMayAct()
  const client = useQueryClient()
  const navigate = useNavigate()
  const [asked, setAsked] = useState<Asked | null>(null)
  if (!mayAct) return null
  const { id, status, name } = campaign
  const params = { path: { id } }
  const close = () => setAsked(null)
  const renew = () => client.invalidateQueries({ queryKey: ['campaigns'] })
  const steer = (verb: 'pause' | 'resume' | 'cancel', done: string) => async () => {
    await ask(api.POST(`/api/campaigns/{id}/${verb}`, { params }))
    await renew()
    say(done)
  }
  const remove = async () => {
    await ask(api.DELETE('/api/campaigns/{id}', { params }))
    say(`${name} is gone`)
    await navigate({ to: '/campaigns' })
    client.removeQueries({ queryKey: ['campaigns', id] })
    void renew()
  }
  const open = describe(openOf(progress.counts), campaign)
  const can = (...statuses: Campaign['status'][]) => statuses.includes(status)
  return (
    <>
      {can('draft') && (
        <>
          <Button tone="quiet" icon={<Trash2 />} onClick={() => setAsked('remove')}>
            Delete
          </Button>
          <Button icon={<Pencil />} onClick={() => void navigate({ to: '/campaigns/$id/edit', params: { id } })}>
            Edit
          </Button>
        </>
      )}
      {can('draft', 'scheduled', 'paused', 'running') && (
        <Button icon={<Send />} onClick={() => setAsked('test')}>
          Send a test
        </Button>
      )}
      {can('draft') && (
        <Button tone="primary" icon={<Rocket />} onClick={() => setAsked('launch')}>
          Launch…
        </Button>
      )}
      {can('scheduled', 'running', 'paused') && (
        <Button tone="danger" icon={<Ban />} onClick={() => setAsked('cancel')}>
          Cancel it
        </Button>
      )}
      {can('scheduled', 'running') && (
        <Button icon={<Pause />} onClick={() => setAsked('pause')}>
          Pause
        </Button>
      )}
      {can('paused') && (
        <Button tone="primary" icon={<Play />} onClick={() => setAsked('resume')}>
          Resume
        </Button>
      )}

      {asked === 'launch' && <LaunchDialog campaign={campaign} progress={progress} onClose={close} />}
      <TestSendDialog
        open={asked === 'test'}
        onClose={close}
        lead="Made for the contact of that address, or for the first person of the list; its unsubscribe link is that of the address. [Test] stands before its subject."
        send={async (to) => (await ask(api.POST('/api/campaigns/{id}/test', { params, body: { to } }))).id}
      />
      <Confirm
        open={asked === 'pause'}
        onClose={close}
        title={`Pause ${name}?`}
        lead={`${open} ${openOf(progress.counts) === 1 ? 'waits' : 'wait'} until it is resumed. What is being handed over at this moment is finished.`}
        action="Pause the campaign"
        run={steer('pause', 'Paused')}
      />
      <Confirm
        open={asked === 'resume'}
        onClose={close}
        title={`Resume ${name}?`}
        lead={`It goes on where it was, with ${open}.`}
        action="Resume the campaign"
        run={steer('resume', 'Resumed')}
      />
      <Confirm
        open={asked === 'cancel'}
        onClose={close}
        title={`Cancel ${name} for good?`}
        lead={`${open} will never ${campaign.sequence_id === null ? 'get it' : 'go out'}. ${showNumber(progress.counts.sent)} that were sent cannot be taken back.`}
        action={`Cancel for ${open}`}
        tone="danger"
        run={steer('cancel', 'Canceled')}
      />
      <Confirm
        open={asked === 'remove'}
        onClose={close}
        title={`Delete the draft ${name}?`}
        lead="Nothing of it was sent. Its list, template and sender stay."
        action="Delete the draft"
        tone="danger"
        run={remove}
      />
    </>
  )
}

/** Of a sequence, emails that are planned are counted, and the people beside them who are not enrolled yet. */
function describe(open: number, { sequence_id: sequence }: Campaign): string {
  const [one, many] = sequence === null ? ['person', 'people'] : ['planned email', 'planned emails']
  return open === 1 ? `1 ${one}` : `${showNumber(open)} ${many}`
}
