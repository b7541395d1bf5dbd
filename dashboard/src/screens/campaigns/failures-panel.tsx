import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { RotateCcw } from 'lucide-react'
import { useState } from 'react'
import { useMayAct } from '../../shell/session'
import { Button } from '../../ui/button'
import { Panel } from '../../ui/panel'
import { QueryView } from '../../ui/query-view'
import { Time } from '../../ui/time'
import { DecideDialog } from '../emails/decide-dialog'
import { type Campaign, failuresQuery, type Progress } from './campaign-queries'
import { showNumber } from '../../ui/number'

/** What a kind of failure means, and what to do about it. */
const KINDS: Readonly<Record<string, readonly [string, string]>> = {
  recipient: [
    'The mailbox does not exist',
    'Its address is suppressed, so that nobody mails it again: a retry skips it while it is.',
  ],
  message: ['The server refused the message', 'Read what it said; mend the content or the domain, then retry.'],
  sender: ['The server refused the sender', 'Mend its credentials, resume the sender, then retry.'],
  template: ['It could not be rendered', 'Give the contacts what is missing, then retry. The template is frozen.'],
  attempts_exhausted: ['It was tried often enough', 'The server never took it. Retry when it works again.'],
  sender_missing: ['Its sender was removed', 'It cannot go out any more: make the campaign again.'],
}

const emails = (count: number) => (count === 1 ? '1 email' : `${showNumber(count)} emails`)

/** Why emails failed, by reason, with the way to the rows, and all of them again. */
export function FailuresPanel({ campaign, progress }: { readonly campaign: Campaign; readonly progress: Progress }) {
  const mayAct = useMayAct()
  const client = useQueryClient()
  const [asking, setAsking] = useState(false)
  const { failed } = progress.counts
  const query = useQuery(failuresQuery(campaign.id, failed))
  // A canceled campaign sends nothing any more.
  const mayRetry =
    mayAct && (campaign.status === 'running' || campaign.status === 'paused' || campaign.status === 'sent')
  return (
    <Panel
      title={`Failed: ${emails(failed)}`}
      actions={
        mayRetry && (
          <Button small icon={<RotateCcw />} onClick={() => setAsking(true)}>
            {failed === 1 ? 'Retry the failed one' : `Retry the ${showNumber(failed)} failed`}
          </Button>
        )
      }
    >
      <QueryView query={query}>
        {({ groups, truncated, emails: looked }) => (
          <>
            <ul className="flex flex-col gap-4">
              {groups.map((group) => {
                const [what, remedy] = KINDS[group.reason_code] ?? [group.reason_code.replaceAll('_', ' '), '']
                return (
                  <li key={group.reason_code} className="text-sm">
                    <p className="flex flex-wrap items-baseline justify-between gap-x-3">
                      <span className="font-medium">{what}</span>
                      <Link
                        to="/email-queue"
                        search={{ campaign_id: campaign.id, status: 'failed', reason_code: group.reason_code } as never}
                        className="underline"
                      >
                        {emails(group.emails)}
                      </Link>
                    </p>
                    <p className="text-soft">{remedy}</p>
                    <ul className="mt-1.5 flex flex-col gap-1 border-l-2 pl-3">
                      {group.reasons.map(({ text, emails: count, email_id: id }) => (
                        <li key={text} className="flex gap-3">
                          <span className="w-10 shrink-0 text-right text-soft tabular-nums">{showNumber(count)}</span>
                          <Link
                            to="/emails/$id"
                            params={{ id }}
                            className="min-w-0 font-mono text-xs break-words hover:underline"
                          >
                            {text || '(no words)'}
                          </Link>
                        </li>
                      ))}
                    </ul>
                    <p className="mt-1 text-xs text-soft">
                      the last <Time at={group.last_at} />
                    </p>
                  </li>
                )
              })}
            </ul>
            {truncated && (
              <p className="mt-3 text-xs text-soft">Counted over {showNumber(looked)} of them; there are more.</p>
            )}
          </>
        )}
      </QueryView>
      {asking && (
        <DecideDialog
          decision="retry"
          target={{ kind: 'matching', filter: { campaign_id: campaign.id, status: 'failed' } }}
          onClose={() => setAsking(false)}
          onDone={() => client.invalidateQueries({ queryKey: ['campaigns'] })}
        />
      )}
    </Panel>
  )
}
