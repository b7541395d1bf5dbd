import { useQuery } from '@tanstack/react-query'
import { CalendarSearch } from 'lucide-react'
import { useState } from 'react'
import { Button } from '../../ui/button'
import { Panel } from '../../ui/panel'
import { QueryView } from '../../ui/query-view'
import { Time } from '../../ui/time'
import { type Simulation, simulate } from '../sequences/simulate'
import { Simulating } from '../sequences/simulating'
import type { Campaign } from './campaign-queries'
import { showNumber } from '../../ui/number'

const SHOWN = 20

/** What it would send on the next days. Computed when asked for: of a long list that takes a moment. */
export function LookAheadPanel({ campaign }: { readonly campaign: Campaign }) {
  const [days, setDays] = useState(14)
  const [asked, setAsked] = useState(false)
  const [progress, setProgress] = useState(0)
  const query = useQuery({
    queryKey: ['campaigns', campaign.id, 'look-ahead', days],
    enabled: asked,
    // A look is at one moment; it is not taken again with every email that goes out.
    staleTime: 'static',
    retry: false,
    queryFn: ({ signal }) => simulate(campaign.id, { days, limit: SHOWN }, { signal, onProgress: setProgress }),
  })
  return (
    <Panel
      title="Look ahead"
      actions={
        <>
          <label className="inline-flex items-center gap-1.5 text-xs text-soft">
            Days
            <select
              value={days}
              onChange={(event) => setDays(Number(event.target.value))}
              className="h-7 rounded-md border bg-panel px-1.5 text-ink"
            >
              {[7, 14, 30, 90].map((one) => (
                <option key={one}>{one}</option>
              ))}
            </select>
          </label>
          <Button
            small
            icon={<CalendarSearch />}
            busy={query.isFetching}
            onClick={() => (asked ? void query.refetch() : setAsked(true))}
          >
            {query.data ? 'Look again' : 'Show what would go out'}
          </Button>
        </>
      }
    >
      {asked ? (
        <>
          {query.isFetching && <Simulating progress={progress} />}
          {!query.isPending && <QueryView query={query}>{(simulation) => <Days simulation={simulation} />}</QueryView>}
        </>
      ) : (
        <p className="text-sm text-soft">
          What it would send on which day, computed by what plans in earnest. Nothing is written and nothing is sent.
        </p>
      )}
    </Panel>
  )
}

function Days({ simulation }: { readonly simulation: Simulation }) {
  const { days, emails, total, beyond, timezone, assumptions } = simulation
  const most = Math.max(1, ...days.map(({ emails: count }) => count))
  const shown = days.filter(({ emails: count }) => count > 0)
  return (
    <div className="flex flex-col gap-4 text-sm">
      <p>
        <strong className="font-semibold">{showNumber(total)}</strong> emails on these days
        {beyond > 0 && `, ${showNumber(beyond)} after them`}. Days of {timezone}.
      </p>
      <table className="w-full">
        <caption className="sr-only">Emails by day, in {timezone}</caption>
        <tbody>
          {shown.map(({ day, emails: count }) => (
            <tr key={day}>
              <th
                scope="row"
                className="w-24 py-0.5 pr-3 text-left font-normal whitespace-nowrap text-soft tabular-nums"
              >
                {day}
              </th>
              <td className="w-16 py-0.5 pr-3 text-right tabular-nums">{showNumber(count)}</td>
              <td className="py-0.5">
                <span
                  aria-hidden
                  className="block h-2.5 rounded-sm bg-calm"
                  style={{ width: `${Math.max(0.5, (100 * count) / most)}%` }}
                />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {emails.length > 0 && (
        <details>
          <summary className="text-soft">The first {emails.length}, one by one</summary>
          <ul className="mt-2 flex flex-col gap-1">
            {emails.map(({ at, address, step }) => (
              <li key={`${at} ${address} ${step}`} className="flex flex-wrap gap-x-3">
                <Time at={at} />
                <span className="min-w-0 break-all">{address}</span>
                {step !== null && <span className="text-soft">step {step}</span>}
              </li>
            ))}
          </ul>
        </details>
      )}
      <ul className="list-disc pl-5 text-soft">
        {assumptions.map((sentence) => (
          <li key={sentence}>{sentence}</li>
        ))}
      </ul>
    </div>
  )
}
