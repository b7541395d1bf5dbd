import { useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { api, ask } from '../../api/client'
import { Choice } from '../../ui/field'
import { Panel } from '../../ui/panel'
import { QueryView } from '../../ui/query-view'
import { useZone } from '../../ui/time'
import { Chart, type Series } from './chart'

const RANGES = [
  ['1h', 'last hour'],
  ['24h', 'last 24 hours'],
  ['7d', 'last 7 days'],
] as const
type Range = (typeof RANGES)[number][0]

interface Bucket {
  readonly start: string
  readonly sent: number
  readonly failed: number
  readonly retried: number
  readonly uncertain: number
}

/** What became of emails, over time. */
export function ThroughputPanel() {
  const [range, setRange] = useState<Range>('1h')
  const zone = useZone()
  const throughput = useQuery({
    queryKey: ['overview', 'throughput', range],
    queryFn: () => ask(api.GET('/api/admin/throughput', { params: { query: { range } } })),
    refetchInterval: 15_000,
    placeholderData: (previous) => previous,
  })
  return (
    <Panel
      title="Throughput"
      actions={
        <Choice label="Range" hideLabel value={range} onChange={(event) => setRange(event.target.value as Range)}>
          {RANGES.map(([id, label]) => (
            <option key={id} value={id}>
              {label}
            </option>
          ))}
        </Choice>
      }
    >
      <QueryView query={throughput}>{({ buckets }) => <Drawn buckets={buckets} />}</QueryView>
      <p className="mt-1 text-xs text-soft">Times in {zone}</p>
    </Panel>
  )
}

function Drawn({ buckets }: { readonly buckets: readonly Bucket[] }) {
  const starts = useMemo(() => buckets.map(({ start }) => start), [buckets])
  const series = useMemo<Series[]>(
    () => [
      { label: 'sent', colour: 'good', values: buckets.map(({ sent }) => sent) },
      { label: 'retried', colour: 'warn', values: buckets.map(({ retried }) => retried) },
      { label: 'failed', colour: 'bad', values: buckets.map(({ failed }) => failed) },
      { label: 'uncertain', colour: 'doubt', values: buckets.map(({ uncertain }) => uncertain) },
    ],
    [buckets],
  )
  return <Chart label="Emails over time" empty="Nothing went out in this time" starts={starts} series={series} />
}
