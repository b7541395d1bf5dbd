import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { api, ask } from '../../api/client'
import { Panel } from '../../ui/panel'
import { QueryView } from '../../ui/query-view'
import { useZone } from '../../ui/time'
import { Chart, type Series } from './chart'

/** What is scheduled to go out in the next day, hour by hour. */
export function UpcomingPanel() {
  const zone = useZone()
  const upcoming = useQuery({
    queryKey: ['overview', 'upcoming'],
    queryFn: () => ask(api.GET('/api/admin/upcoming', { params: { query: { hours: 24 } } })),
    refetchInterval: 30_000,
  })
  return (
    <Panel title="The next 24 hours">
      <QueryView query={upcoming}>{({ buckets }) => <Drawn buckets={buckets} />}</QueryView>
      <p className="mt-1 text-xs text-soft">Times in {zone}</p>
    </Panel>
  )
}

function Drawn({ buckets }: { readonly buckets: readonly { readonly start: string; readonly emails: number }[] }) {
  const starts = useMemo(() => buckets.map(({ start }) => start), [buckets])
  const series = useMemo<Series[]>(
    () => [{ label: 'emails', colour: 'calm', values: buckets.map(({ emails }) => emails) }],
    [buckets],
  )
  return <Chart label="Emails scheduled" empty="Nothing is scheduled" starts={starts} series={series} />
}
