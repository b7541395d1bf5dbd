import { Link } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { moodOf, wordOf } from '../../ui/badge'
import { type EmailFilter, type EmailStatus, othersOf, STATUSES } from './email-filter'
import type { EmailCounts } from './use-counts'
import { showNumber } from '../../ui/number'

const MARKS: Readonly<Partial<Record<ReturnType<typeof moodOf>, string>>> = {
  bad: 'bg-bad-soft text-bad',
  doubt: 'bg-doubt-soft text-doubt',
  warn: 'bg-warn-soft text-warn',
}
/** Those that ask for somebody, if there are any. */
const LOUD: readonly EmailStatus[] = ['failed', 'uncertain', 'retry_scheduled']

/** One tab per state. They are links: each is an address that can be kept, sent to somebody, and gone back to. */
export function StatusTabs({
  filter,
  counts,
}: {
  readonly filter: EmailFilter
  readonly counts: EmailCounts | undefined
}) {
  const others = othersOf(filter)
  const list = useRef<HTMLUListElement>(null)
  const isCounted = counts !== undefined
  // On a phone most tabs are out of sight, and so would be the one that says what is shown. Counts make all of them wider.
  useEffect(() => {
    const current = list.current?.querySelector<HTMLElement>('[aria-current=page]')
    if (current) list.current!.scrollLeft = current.offsetLeft - (list.current!.clientWidth - current.offsetWidth) / 2
  }, [filter.status, isCounted])
  const tab = (status: EmailStatus | undefined) => {
    const counted = status ? counts?.statuses[status] : counts?.total
    const isLoud = status !== undefined && LOUD.includes(status) && (counted?.count ?? 0) > 0
    return (
      <li key={status ?? 'all'} className="shrink-0">
        <Link
          to="/email-queue"
          search={{ ...others, ...(status && { status }) } as never}
          activeOptions={{ exact: true, includeSearch: true }}
          className="-mb-px flex items-center gap-1.5 border-b-2 border-transparent px-3 py-2.5 text-sm -outline-offset-2 lg:gap-1 lg:px-[0.45rem] whitespace-nowrap text-soft hover:text-ink aria-[current=page]:border-accent aria-[current=page]:font-medium aria-[current=page]:text-ink"
        >
          {status ? titleOf(status) : 'All'}
          {counted !== undefined && (counted.count > 0 || (filter.status === status && !counted.capped)) && (
            <span
              className={`rounded-full px-1.5 text-xs tabular-nums lg:px-1 ${isLoud ? MARKS[moodOf(status)] : 'bg-sunken text-soft'}`}
            >
              {formatCount(counted)}
            </span>
          )}
        </Link>
      </li>
    )
  }
  return (
    <nav aria-label="By state" className="border-b">
      <ul ref={list} className="relative flex overflow-x-auto px-1">
        {tab(undefined)}
        {STATUSES.map(tab)}
      </ul>
    </nav>
  )
}

/**
 * What was not counted to the end is at least so many, in a round number: nobody stopped at 13,625. Short, so that all tabs
 * are in sight beside each other when there are very many of everything.
 */
const formatCount = ({ count, capped }: EmailCounts['total']): string => {
  if (!capped) return showNumber(count)
  const size = 10 ** Math.floor(Math.log10(Math.max(count, 1)))
  const least = Math.floor(count / size) * size
  return least < 1_000 ? `${least}+` : `${least / 1_000}k+`
}

const titleOf = (status: EmailStatus): string => {
  const word = wordOf(status)
  return word.charAt(0).toUpperCase() + word.slice(1)
}
