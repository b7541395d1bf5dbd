import { useState } from 'react'
import { type Mood, MOODS } from '../../ui/badge'
import { Button } from '../../ui/button'
import { Panel } from '../../ui/panel'
import { describeDistance, Time, useZone } from '../../ui/time'
import type { TimelineEntry } from './timeline-entries'

const DOTS: Readonly<Record<Mood, string>> = {
  good: 'bg-good',
  warn: 'bg-warn',
  bad: 'bg-bad',
  doubt: 'bg-doubt',
  calm: 'bg-calm',
  plain: 'bg-soft',
}

/** So many of the last are shown at first: an email that is opened every day has a long life. */
const LAST = 25
const FIRST = 5

/** Everything that happened, oldest first, and what is due. */
export function Timeline({ entries }: { readonly entries: readonly TimelineEntry[] }) {
  const zone = useZone()
  const [isWhole, setWhole] = useState(false)
  const left = isWhole ? 0 : Math.max(0, entries.length - FIRST - LAST)
  const item = (entry: TimelineEntry) => (
    <li key={entry.key} className="relative min-w-0">
      <span
        aria-hidden
        className={`absolute top-1.5 -left-[1.58rem] size-2.5 rounded-full ring-4 ring-panel ${entry.isAhead ? 'border-2 border-soft bg-panel' : DOTS[entry.mood]}`}
      />
      <Entry entry={entry} />
    </li>
  )
  return (
    <Panel title="What happened" actions={<span className="text-xs text-soft">Times in {zone}</span>}>
      <ol className="relative ml-1.5 flex flex-col gap-5 border-l pl-5">
        {left === 0 ? entries.map(item) : entries.slice(0, FIRST).map(item)}
        {left > 0 && (
          <li>
            <Button small onClick={() => setWhole(true)}>
              Show {left} more in between
            </Button>
          </li>
        )}
        {left > 0 && entries.slice(-LAST).map(item)}
      </ol>
    </Panel>
  )
}

function Entry({ entry }: { readonly entry: TimelineEntry }) {
  const { at, mood, title, about, quote, facts, isAhead } = entry
  return (
    <>
      <div className="flex flex-wrap items-baseline justify-between gap-x-3">
        <h3 className={`min-w-0 text-sm font-medium break-words ${isAhead ? 'text-soft' : ''}`}>
          {title}
          {about !== undefined && <span className="font-normal text-soft"> · {about}</span>}
        </h3>
        <span className="text-xs text-soft">
          <Time at={at} /> · {describeDistance(at)}
        </span>
      </div>
      {quote !== undefined && quote !== '' && (
        <p
          className={`mt-1.5 rounded-md px-2.5 py-1.5 font-mono text-xs break-words whitespace-pre-wrap ${MOODS[mood]}`}
        >
          {quote}
        </p>
      )}
      {facts !== undefined && (
        <dl className="mt-1.5 flex flex-wrap gap-x-4 gap-y-0.5 text-xs">
          {facts.map(([name, value]) => (
            <div key={name} className="flex min-w-0 gap-1">
              <dt className="shrink-0 text-soft">{name}</dt>
              <dd className="min-w-0 break-words">{value}</dd>
            </div>
          ))}
        </dl>
      )}
    </>
  )
}
