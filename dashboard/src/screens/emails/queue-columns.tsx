import { Link } from '@tanstack/react-router'
import { type Mood, moodOf, StatusBadge, wordOf } from '../../ui/badge'
import type { Column } from '../../ui/data-table'
import { RowMenu } from '../../ui/menu'
import { Time } from '../../ui/time'
import { type Decision, DECISIONS, decisionsFor } from './decisions'
import type { EmailStatus } from './email-filter'
import type { EmailRow } from './email-queue'

/** What the time of an email is the time of. */
const WHEN: Readonly<Record<EmailStatus, string>> = {
  scheduled: 'due',
  retry_scheduled: 'next attempt',
  sending: 'since',
  sent: 'sent',
  uncertain: 'uncertain since',
  failed: 'failed',
  expired: 'expired',
  suppressed: 'left out',
  canceled: 'canceled',
  dismissed: 'dismissed',
}

export const nameOf = ({ subject, to }: EmailRow): string => `${subject || 'no subject'}, to ${to.join(', ')}`

const Two = ({ first, second }: { readonly first: React.ReactNode; readonly second: React.ReactNode }) => (
  <span className="flex min-w-0 flex-col leading-tight">
    <span className="truncate">{first}</span>
    <span className="truncate text-xs text-soft">{second}</span>
  </span>
)

/** Of `Ada <ada@example.com>` what finds a person; the whole is there on hover. */
const addressOf = (mailbox: string): string => /<([^<>]+)>$/.exec(mailbox)?.[1] ?? mailbox

/** Where there is no room for a badge, the word has its colour. */
const INKS: Readonly<Record<Mood, string>> = {
  good: 'text-good',
  warn: 'text-warn',
  bad: 'text-bad',
  doubt: 'text-doubt',
  calm: 'text-calm',
  plain: '',
}

const to = (row: EmailRow): string => {
  const [first = 'nobody', ...more] = [...row.to, ...row.cc, ...row.bcc].map(addressOf)
  return more.length === 0 ? first : `${first} and ${more.length} more`
}

const COLUMNS: readonly Column<EmailRow>[] = [
  {
    id: 'status',
    head: 'State',
    width: '9rem',
    from: 'sm',
    cell: ({ status, in_doubt: inDoubt }) => (
      <span className="inline-flex items-center gap-1">
        <StatusBadge status={status} />
        {inDoubt && status !== 'uncertain' && (
          <span
            title="It was sent again after a hand-over that was never answered: it may arrive twice."
            className="text-doubt"
          >
            <span aria-hidden>×2?</span>
            <span className="sr-only">may arrive twice</span>
          </span>
        )}
      </span>
    ),
  },
  {
    id: 'subject',
    head: 'Email',
    width: 'minmax(0,1.9fr)',
    cell: (row) => (
      <Two
        first={
          <Link to="/emails/$id" params={{ id: row.id }} title={row.subject} className="font-medium hover:underline">
            {row.subject || <span className="text-soft italic">no subject</span>}
          </Link>
        }
        second={
          <>
            <span className={`sm:hidden ${INKS[moodOf(row.status)]}`}>{wordOf(row.status)} · </span>
            <span className="md:hidden">{to(row)}</span>
            <span className="max-md:hidden">
              {row.campaign_name === null ? `from ${addressOf(row.from)}` : `campaign ${row.campaign_name}`}
            </span>
          </>
        }
      />
    ),
  },
  {
    id: 'to',
    head: 'To',
    width: 'minmax(0,1.95fr)',
    from: 'md',
    cell: (row) => <span title={[...row.to, ...row.cc, ...row.bcc].join(', ')}>{to(row)}</span>,
  },
  {
    id: 'when',
    head: 'When',
    width: '8rem',
    from: 'sm',
    cell: ({ status, next_attempt_at: next, updated_at: updated }) => (
      <Two first={<Time at={next ?? updated} />} second={WHEN[status]} />
    ),
  },
  {
    id: 'attempts',
    head: 'Attempts',
    width: '5.25rem',
    from: 'lg',
    align: 'right',
    cell: ({ attempts }) => attempts || <span className="text-soft">0</span>,
  },
  {
    id: 'error',
    head: 'Last error',
    width: 'minmax(0,1.75fr)',
    from: 'lg',
    cell: ({ last_error: error, status }) =>
      error ? (
        <span title={error} className={status === 'sent' ? 'text-soft' : ''}>
          {error}
        </span>
      ) : (
        <span className="text-soft">—</span>
      ),
  },
  { id: 'created', head: 'Made', width: '8rem', from: 'lg', cell: ({ created_at: at }) => <Time at={at} /> },
]

/** With the menu of what can be done, for those who may. */
export const columnsFor = (decide: ((row: EmailRow, decision: Decision) => void) | null): readonly Column<EmailRow>[] =>
  decide === null
    ? COLUMNS
    : [
        ...COLUMNS,
        {
          id: 'menu',
          head: <span className="sr-only">What can be done</span>,
          width: '4rem',
          cell: (row) => {
            const decisions = decisionsFor(row.status)
            if (decisions.length === 0) return null
            return (
              <RowMenu
                label={`What can be done with ${nameOf(row)}`}
                items={() =>
                  decisions.map((decision) => ({
                    label: DECISIONS[decision].label,
                    danger: DECISIONS[decision].tone === 'danger',
                    onSelect: () => decide(row, decision),
                  }))
                }
              />
            )
          },
        },
      ]
