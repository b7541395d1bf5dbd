import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Choice } from '../../ui/field'
import { Panel } from '../../ui/panel'
import { QueryView } from '../../ui/query-view'
import { formatTime, useZone } from '../../ui/time'
import { countEmails } from '../emails/decisions'
import { showNumber } from '../../ui/number'
import { simulate } from './simulate'
import { Simulating } from './simulating'

/** What a campaign would send in the next days, by the code that would plan it. Nothing is written. */
export function SimulationView({ campaignId }: { readonly campaignId: string }) {
  const [days, setDays] = useState(14)
  const [progress, setProgress] = useState(0)
  const zone = useZone()
  const simulation = useQuery({
    queryKey: ['campaigns', campaignId, 'simulation', days, zone],
    queryFn: ({ signal }) =>
      simulate(campaignId, { days, limit: 50, timezone: zone }, { signal, onProgress: setProgress }),
    retry: false,
    staleTime: 60_000,
  })
  return (
    <Panel
      title="Simulation"
      actions={
        <Choice label="Days" hideLabel value={days} onChange={(event) => setDays(Number(event.target.value))}>
          {[7, 14, 30, 90].map((count) => (
            <option key={count} value={count}>
              {count} days
            </option>
          ))}
        </Choice>
      }
    >
      {simulation.isFetching && <Simulating progress={progress} />}
      {!simulation.isPending && (
        <QueryView query={simulation}>
          {(data) => {
            const most = Math.max(1, ...data.days.map(({ emails }) => emails))
            return (
              <div className="grid gap-6 lg:grid-cols-2">
                <div className="min-w-0">
                  <h3 className="mb-2 text-sm font-medium">
                    {countEmails(data.total)} in {days} days
                    {data.beyond > 0 && `, ${showNumber(data.beyond)} after them`}
                  </h3>
                  <ul className="flex flex-col gap-1 text-xs tabular-nums">
                    {data.days.map(({ day, emails }) => (
                      <li key={day} className="grid grid-cols-[6rem_1fr_4rem] items-center gap-2">
                        <span className="text-soft">{day}</span>
                        <span
                          aria-hidden
                          className="h-3 rounded bg-accent/80"
                          style={{ width: `${(100 * emails) / most}%` }}
                        />
                        <span className="text-right">{showNumber(emails)}</span>
                      </li>
                    ))}
                  </ul>
                  <ul className="mt-4 list-disc pl-5 text-xs text-soft">
                    {data.assumptions.map((sentence) => (
                      <li key={sentence}>{sentence}</li>
                    ))}
                  </ul>
                </div>
                <div className="min-w-0">
                  <h3 className="mb-2 text-sm font-medium">The first of them ({data.timezone})</h3>
                  <ol className="max-h-96 overflow-auto text-xs" tabIndex={0}>
                    {data.emails.map(({ at, address, step }) => (
                      <li key={`${at} ${address} ${step}`} className="flex gap-3 border-b py-1">
                        <span className="whitespace-nowrap tabular-nums">{formatTime(at, data.timezone)}</span>
                        <span className="min-w-0 flex-1 truncate">{address}</span>
                        {step !== null && <span className="text-soft">step {step}</span>}
                      </li>
                    ))}
                  </ol>
                </div>
              </div>
            )
          }}
        </QueryView>
      )}
    </Panel>
  )
}
