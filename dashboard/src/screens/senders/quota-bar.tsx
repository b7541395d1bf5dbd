import { useQuery } from '@tanstack/react-query'
import { Progress } from '../../ui/progress'
import { Skeleton } from '../../ui/spinner'
import { quotaQuery } from './sender-queries'
import { showNumber } from '../../ui/number'

/** How much of today is used, by the sender's own calendar. */
export function QuotaBar({ senderId }: { readonly senderId: string }) {
  const { data } = useQuery(quotaQuery(senderId))
  if (!data) return <Skeleton className="h-9 w-full" />
  const { quota, booked, sent, date } = data
  const waiting = Math.max(booked - sent, 0)
  if (quota === null) return null
  return (
    <div className="flex flex-col gap-1">
      <Progress
        label={`Quota of ${date}`}
        total={quota}
        parts={[
          { label: 'sent', value: sent, className: 'bg-good' },
          { label: 'booked', value: waiting, className: 'bg-calm/60' },
        ]}
      />
      <p className="text-xs text-soft">
        {date}: {showNumber(sent)} sent, {showNumber(waiting)} booked, of {showNumber(quota)}
      </p>
    </div>
  )
}
