import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { ArrowLeft } from 'lucide-react'
import { useState } from 'react'
import { api, ask } from '../../api/client'
import type { Shape } from '../../api/types'
import { useMayAct } from '../../shell/session'
import { moodOf, MOODS, StatusBadge } from '../../ui/badge'
import { Button } from '../../ui/button'
import { PageHead } from '../../ui/panel'
import { QueryView } from '../../ui/query-view'
import { ALL_DECISIONS, type Decision, DECISIONS } from './decisions'
import { DecideDialog } from './decide-dialog'
import { EmailFacts } from './email-facts'
import { EmailPreview } from './email-preview'
import { RecipientsPanel } from './recipients-panel'
import { Timeline } from './timeline'
import { toTimeline } from './timeline-entries'

type Email = Shape<'Email'>

/** The whole life of one email, and what can be done about it. */
export function EmailDetail() {
  const { id } = useParams({ strict: false }) as { id: string }
  const email = useQuery({
    queryKey: ['emails', id],
    queryFn: () => ask(api.GET('/api/emails/{id}', { params: { path: { id } } })),
  })
  return (
    <>
      <Link to="/email-queue" className="mb-2 inline-flex items-center gap-1 text-sm text-soft hover:text-ink">
        <ArrowLeft aria-hidden className="size-4" /> Email queue
      </Link>
      <QueryView query={email}>{(data) => <Detail email={data} />}</QueryView>
    </>
  )
}

function Detail({ email }: { readonly email: Email }) {
  const client = useQueryClient()
  const mayAct = useMayAct()
  const [decision, setDecision] = useState<Decision | null>(null)
  // Recipients may be in different states: what any of them allows can be decided.
  const statuses = email.deliveries.map(({ status }) => status)
  const decisions = ALL_DECISIONS.filter((one) => statuses.some((status) => DECISIONS[one].from.includes(status)))
  return (
    <>
      <PageHead
        title={email.subject || 'No subject'}
        lead={
          <span className="flex flex-wrap items-center gap-x-2 gap-y-1">
            <StatusBadge status={email.status} />
            <span className="min-w-0 break-words">
              to{' '}
              {email.deliveries.length === 1 ? email.deliveries[0]!.recipient : `${email.deliveries.length} recipients`}
            </span>
            <span className="min-w-0 break-words">from {email.from}</span>
          </span>
        }
      />
      <Explanation email={email}>
        {mayAct && decisions.length > 0 && (
          <div className="flex flex-wrap gap-2">
            {decisions.map((one) => (
              <Button
                key={one}
                tone={DECISIONS[one].tone === 'danger' ? 'danger' : 'plain'}
                onClick={() => setDecision(one)}
              >
                {DECISIONS[one].label}
              </Button>
            ))}
          </div>
        )}
      </Explanation>
      <div className="grid gap-4 lg:grid-cols-[minmax(0,1fr)_24rem]">
        <div className="flex min-w-0 flex-col gap-4">
          <Timeline key={email.id} entries={toTimeline(email)} />
          <EmailPreview key={`${email.id} says`} email={email} />
        </div>
        <div className="flex min-w-0 flex-col gap-4">
          {email.deliveries.length > 1 && <RecipientsPanel deliveries={email.deliveries} />}
          <EmailFacts email={email} />
        </div>
      </div>
      {decision !== null && (
        <DecideDialog
          decision={decision}
          target={{ kind: 'chosen', emails: [email] }}
          onClose={() => setDecision(null)}
          onDone={() => client.invalidateQueries({ queryKey: ['emails'] })}
        />
      )}
    </>
  )
}

/** Why it is where it is and what comes next: what people come to this page for. */
const Explanation = ({ email, children }: { readonly email: Email; readonly children: React.ReactNode }) => (
  <section
    aria-label="Why it is where it is"
    className={`mb-4 flex flex-wrap items-center justify-between gap-3 rounded-xl p-4 ${MOODS[moodOf(email.status)]}`}
  >
    <p className="min-w-0 flex-1 basis-80 text-base break-words text-ink">{email.explain}</p>
    {children}
  </section>
)
