import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { api, ask } from '../../api/client'
import { Badge } from '../../ui/badge'
import { ProblemNote } from '../../ui/problem-note'
import { Loading } from '../../ui/spinner'
import { formatTime } from '../../ui/time'
import { useDebounced } from '../../ui/use-debounced'
import { type PaceDraft, toBody } from './pace-draft'
import { showNumber } from '../../ui/number'

/** The next days and slots of the pace as it is written, asked of the code that will keep it. */
export function PacePreview({ draft, senderId }: { readonly draft: PaceDraft; readonly senderId: string }) {
  const settled = useDebounced(draft)
  const preview = useQuery({
    queryKey: ['senders', senderId, 'preview', settled],
    queryFn: () =>
      ask(api.POST('/api/settings/sending/preview', { body: { pace: toBody(settled), sender_id: senderId } })),
    placeholderData: keepPreviousData,
    retry: false,
    staleTime: 60_000,
  })
  if (preview.isError) return <ProblemNote error={preview.error} />
  if (!preview.data) return <Loading what="Asking what this yields" />
  const { timezone, open_now: isOpen, days, slots } = preview.data
  const clock = (at: string) => formatTime(at, timezone, 'short').split(', ').at(-1)
  return (
    <div className="flex flex-col gap-4" aria-live="polite">
      <p className="text-sm">
        <Badge mood={isOpen ? 'good' : 'calm'}>{isOpen ? 'open now' : 'closed now'}</Badge>{' '}
        <span className="text-soft">times in {timezone}</span>
      </p>
      <div>
        <h3 className="mb-1 text-sm font-medium">The next days</h3>
        {days.length === 0 ? (
          <p className="text-sm text-bad">It would never send.</p>
        ) : (
          <table className="w-full text-sm">
            <thead className="text-left text-xs text-soft">
              <tr>
                <th className="py-1 font-medium">Day</th>
                <th className="font-medium">Window</th>
                <th className="text-right font-medium">Quota</th>
                <th className="text-right font-medium">Fits about</th>
              </tr>
            </thead>
            <tbody className="tabular-nums">
              {days.map(({ date, opens_at: opens, closes_at: closes, quota, fits }) => (
                <tr key={date} className="border-t">
                  <td className="py-1">{date}</td>
                  <td>
                    {clock(opens)}–{clock(closes)}
                  </td>
                  <td className="text-right">{quota == null ? '—' : showNumber(quota)}</td>
                  <td className="text-right">{fits == null ? '—' : showNumber(fits)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </div>
      <div>
        <h3 className="mb-1 text-sm font-medium">The next slots, if nothing else were booked</h3>
        <ol className="grid grid-cols-2 gap-x-4 text-sm tabular-nums">
          {slots.map((slot) => (
            <li key={slot}>{formatTime(slot, timezone).replace(/ \d{4},/, ',')}</li>
          ))}
        </ol>
      </div>
    </div>
  )
}
