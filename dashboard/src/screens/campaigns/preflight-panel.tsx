import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { CircleCheck, CircleX, RefreshCw, TriangleAlert } from 'lucide-react'
import type { ReactNode } from 'react'
import { useMayAct } from '../../shell/session'
import { Button } from '../../ui/button'
import { Panel } from '../../ui/panel'
import { QueryView } from '../../ui/query-view'
import { type Campaign, type Preflight, preflightQuery } from './campaign-queries'

type Check = Preflight['checks'][number]

const LEVELS = {
  ok: ['passed', CircleCheck, 'text-good'],
  warning: ['look at it', TriangleAlert, 'text-warn'],
  error: ['keeps it from starting', CircleX, 'text-bad'],
} as const

const NAMES: Readonly<Record<string, string>> = {
  audience: 'Audience',
  sender: 'Sender',
  template: 'Content',
  unsubscribe: 'Unsubscribe link',
  window: 'Sending window',
  time: 'Times',
}

/** Where what it complains of can be changed. */
function placeOf({ check, level }: Check, campaign: Campaign): ReactNode {
  if (level === 'ok') return null
  const { list_id: list, template_id: template, sequence_id: sequence, sender_ids: senders } = campaign
  switch (check) {
    case 'audience':
      return <Go to="/lists/$id" id={list} word="Open the list" />
    case 'template':
    case 'unsubscribe':
      return template === null ? (
        <Go to="/sequences/$id" id={sequence ?? ''} word="Open the sequence" />
      ) : (
        <Go to="/templates/$id" id={template} word="Open the template" />
      )
    case 'sender':
    case 'window':
      return senders.length === 1 ? (
        <Go to="/senders/$id" id={senders[0]!} word="Open the sender" />
      ) : (
        <Link to="/senders" className="underline">
          Open the senders
        </Link>
      )
    default:
      return null
  }
}

const Go = ({ to, id, word }: { readonly to: string; readonly id: string; readonly word: string }) => (
  <Link to={to} params={{ id } as never} className="underline">
    {word}
  </Link>
)

export function PreflightPanel({ campaign }: { readonly campaign: Campaign }) {
  const query = useQuery(preflightQuery(campaign))
  return (
    <Panel
      title="Before it starts"
      actions={
        <Button small tone="quiet" icon={<RefreshCw />} busy={query.isFetching} onClick={() => void query.refetch()}>
          Check again
        </Button>
      }
    >
      <QueryView query={query} what="Checking">
        {({ checks }) => <CheckList checks={checks} campaign={campaign} />}
      </QueryView>
    </Panel>
  )
}

/** The worst first: those are to be dealt with. */
const RANK: Readonly<Record<Check['level'], number>> = { error: 0, warning: 1, ok: 2 }

export function CheckList({ checks, campaign }: { readonly checks: readonly Check[]; readonly campaign: Campaign }) {
  const mayAct = useMayAct()
  return (
    <ul className="flex flex-col gap-2.5 text-sm" aria-label="Checks">
      {checks
        .toSorted((one, other) => RANK[one.level] - RANK[other.level])
        .map((check) => {
          const [word, Icon, colour] = LEVELS[check.level]
          return (
            <li key={`${check.check} ${check.detail}`} className="flex gap-2.5" data-level={check.level}>
              <Icon aria-hidden className={`mt-0.5 size-4 shrink-0 ${colour}`} />
              <div className="min-w-0">
                <p>
                  <span className="font-medium">{NAMES[check.check] ?? check.check}</span>{' '}
                  <span className={`text-xs ${colour}`}>{word}</span>
                </p>
                <p className="break-words text-soft">{check.detail}</p>
                <span className="flex flex-wrap gap-x-3">
                  {placeOf(check, campaign)}
                  {mayAct && check.level !== 'ok' && campaign.status === 'draft' && (
                    <Go to="/campaigns/$id/edit" id={campaign.id} word="Change the draft" />
                  )}
                </span>
              </div>
            </li>
          )
        })}
    </ul>
  )
}
