import { Link } from '@tanstack/react-router'
import { type Part, Progress } from '../../ui/progress'
import type { Counts } from './campaign-queries'
import { showNumber } from '../../ui/number'

type Name = Exclude<keyof Counts, 'audience'>

interface Kind {
  readonly name: Name
  readonly word: string
  readonly what: string
  readonly className: string
  /** Its rows are exactly these of the email queue. */
  readonly rows?: true
}

/** From what is over well to what has not begun: the order of the bar and of the table below it. */
const KINDS: readonly Kind[] = [
  { name: 'sent', word: 'sent', what: 'The next mail server accepted it.', className: 'bg-good', rows: true },
  { name: 'failed', word: 'failed', what: 'Refused for good, or out of attempts.', className: 'bg-bad', rows: true },
  {
    name: 'uncertain',
    word: 'uncertain',
    what: 'Nobody can know; somebody decides.',
    className: 'bg-doubt',
    rows: true,
  },
  { name: 'unsubscribed', word: 'unsubscribed', what: 'Opted out of the list: not sent.', className: 'bg-soft/60' },
  { name: 'suppressed', word: 'suppressed', what: 'Must not be mailed: not sent.', className: 'bg-soft/60' },
  { name: 'removed', word: 'removed', what: 'The contact was removed: not sent.', className: 'bg-soft/60' },
  { name: 'canceled', word: 'canceled', what: 'Called off before it went out.', className: 'bg-soft/60', rows: true },
  {
    name: 'expired',
    word: 'expired',
    what: 'Its time was over before it went out.',
    className: 'bg-soft/60',
    rows: true,
  },
  {
    name: 'dismissed',
    word: 'dismissed',
    what: 'Failed, and put aside by somebody.',
    className: 'bg-soft/60',
    rows: true,
  },
  { name: 'sending', word: 'being sent', what: 'With a worker at this moment.', className: 'bg-calm', rows: true },
  { name: 'retry_scheduled', word: 'tried again later', what: 'Failed for now.', className: 'bg-warn', rows: true },
  { name: 'scheduled', word: 'queued', what: 'Waits for its turn.', className: 'bg-calm/50', rows: true },
  { name: 'not_planned', word: 'not looked at yet', what: 'On the list; its turn comes.', className: 'bg-transparent' },
]

/** What will not change by itself any more. */
export const overOf = (counts: Counts): number =>
  counts.audience - counts.not_planned - counts.scheduled - counts.retry_scheduled - counts.sending

export const openOf = (counts: Counts): number => counts.audience - overOf(counts)

export function CountsBar({ counts, label }: { readonly counts: Counts; readonly label: string }) {
  const parts: Part[] = KINDS.filter(({ name }) => name !== 'not_planned' && counts[name] > 0).map(
    ({ name, word, className }) => ({ label: word, value: counts[name], className }),
  )
  return <Progress parts={parts} total={counts.audience} label={label} />
}

/** Every count that is not nothing, and that they add up. */
export function CountsTable({
  campaignId,
  counts,
  unit,
  over,
}: {
  readonly campaignId: string
  readonly counts: Counts
  /** Whose turn has not come, for them it never will. */
  readonly over: boolean
  readonly unit: 'people' | 'emails'
}) {
  const shown = KINDS.filter(({ name }) => counts[name] > 0)
  return (
    <table className="w-full text-sm">
      <caption className="sr-only">How many {unit} are in which state</caption>
      <thead className="sr-only">
        <tr>
          <th scope="col">State</th>
          <th scope="col">{unit}</th>
          <th scope="col">What it means</th>
        </tr>
      </thead>
      <tbody>
        {shown.map(({ name, word, what, className, rows }) => (
          <tr key={name} className="border-t first:border-t-0">
            <th scope="row" className="py-1.5 pr-3 text-left font-normal whitespace-nowrap">
              <span
                aria-hidden
                className={`mr-2 inline-block size-2.5 rounded-sm border border-soft/40 ${className}`}
              />
              {rows ? (
                <Link
                  to="/email-queue"
                  search={{ campaign_id: campaignId, status: name } as never}
                  className="underline decoration-dotted underline-offset-2"
                >
                  {word}
                </Link>
              ) : (
                word
              )}
            </th>
            <td className="py-1.5 pr-4 text-right font-medium tabular-nums" data-count={name}>
              {showNumber(counts[name])}
            </td>
            <td className="w-full py-1.5 text-soft max-sm:hidden">
              {over && name === 'not_planned' ? 'On the list; it ended before their turn.' : what}
            </td>
          </tr>
        ))}
        <tr className="border-t">
          <th scope="row" className="py-1.5 pr-3 text-left font-semibold">
            Together
          </th>
          <td className="py-1.5 pr-4 text-right font-semibold tabular-nums" data-count="audience">
            {showNumber(counts.audience)}
          </td>
          <td className="py-1.5 text-soft max-sm:hidden">{unit}</td>
        </tr>
      </tbody>
    </table>
  )
}
