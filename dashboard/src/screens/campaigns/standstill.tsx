import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { CirclePause, Clock, TriangleAlert } from 'lucide-react'
import type { ReactNode } from 'react'
import { api, ask } from '../../api/client'
import { useMayAct } from '../../shell/session'
import { Button } from '../../ui/button'
import { describeDistance, Time } from '../../ui/time'
import { say } from '../../ui/toasts'
import type { Campaign, Progress } from './campaign-queries'
import { showNumber } from '../../ui/number'

/** Needs somebody; the others go on by themselves, or were meant. */
const SICK = new Set(['sender_paused', 'sender_missing', 'planning_failed', 'planning_interrupted', 'no_worker'])

/** All is well: it is simply not the time. */
const WAITS = new Set([
  'waiting_for_start',
  'waiting_for_next',
  'waiting_for_retries',
  'hourly_limit',
  'outside_window',
])

/** Somebody wanted it so, and the sentence says so. */
const DECIDED = new Set(['paused', 'canceled'])

/** What of this page's places mends it. */
function remedy(code: string, { sender_id: sender }: Campaign): ReactNode {
  switch (code) {
    case 'sender_paused':
    case 'sender_slowed':
    case 'outside_window':
    case 'quota_used':
      return (
        <Link to="/senders/$id" params={{ id: sender }} className="underline">
          Look at the sender
        </Link>
      )
    case 'no_worker':
      return <code className="font-mono text-xs">postrider work</code>
    default:
      return null
  }
}

/** What failed starts over with it. */
function RetryPlanning({ id, failed }: { readonly id: string; readonly failed: number }) {
  const mayAct = useMayAct()
  const client = useQueryClient()
  const retry = useMutation({
    mutationFn: () => ask(api.POST('/api/campaigns/{id}/retry', { params: { path: { id } } })),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: ['campaigns'] })
      say('It plans again')
    },
  })
  if (!mayAct) return null
  return (
    <Button small className="mt-1" busy={retry.isPending} onClick={() => retry.mutate()}>
      {failed === 0 ? 'Plan again' : `Plan again, and retry ${showNumber(failed)} failed`}
    </Button>
  )
}

/** Why a campaign is not moving, if it is not. */
export function StandstillNote({ campaign, progress }: { readonly campaign: Campaign; readonly progress: Progress }) {
  const { standstill } = progress
  if (!standstill || campaign.status === 'draft') return null
  const sick = SICK.has(standstill.code)
  const Icon = sick ? TriangleAlert : DECIDED.has(standstill.code) ? CirclePause : Clock
  return (
    <div
      role="status"
      data-standstill={standstill.code}
      className={`mb-5 flex gap-3 rounded-lg border p-3 text-sm ${sick ? 'border-bad/30 bg-bad-soft' : 'bg-panel'}`}
    >
      <Icon aria-hidden className={`mt-0.5 size-4 shrink-0 ${sick ? 'text-bad' : 'text-soft'}`} />
      <div className="min-w-0">
        <p className="break-words">
          {!DECIDED.has(standstill.code) && (
            <strong className="font-semibold">{WAITS.has(standstill.code) ? 'It waits.' : 'It is not moving.'} </strong>
          )}
          {standstill.text}
        </p>
        {standstill.until !== null && (
          <p className="text-soft">
            It goes on by itself {describeDistance(standstill.until)}: <Time at={standstill.until} />.
          </p>
        )}
        {standstill.code === 'planning_failed' ? (
          <RetryPlanning id={campaign.id} failed={progress.counts.failed} />
        ) : (
          remedy(standstill.code, campaign)
        )}
      </div>
    </div>
  )
}
