import { useEffect, useRef } from 'react'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { formatTime, useZone } from '../../ui/time'
import { showNumber } from '../../ui/number'

export interface Series {
  readonly label: string
  /** The name of a colour of the theme. */
  readonly colour: string
  readonly values: readonly number[]
}

const HEIGHT = 220

const colourOf = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim()

/** Columns over time, one upon the other, drawn in the theme's colours and the chosen zone. */
export function Chart({
  label,
  empty,
  starts,
  series,
}: {
  readonly label: string
  /** Said where there is nothing to draw, which otherwise looks like something that did not load. */
  readonly empty: string
  readonly starts: readonly string[]
  readonly series: readonly Series[]
}) {
  const box = useRef<HTMLDivElement>(null)
  const zone = useZone()
  useEffect(() => {
    const element = box.current
    if (!element) return
    let plot: uPlot | undefined
    const draw = () => {
      plot?.destroy()
      plot = new uPlot(optionsFor(element.clientWidth, series, zone), dataFor(starts, series), element)
    }
    draw()
    const resized = new ResizeObserver(() => plot?.setSize({ width: element.clientWidth, height: HEIGHT }))
    resized.observe(element)
    const themed = new MutationObserver(draw)
    themed.observe(document.documentElement, { attributeFilter: ['data-theme'] })
    return () => {
      resized.disconnect()
      themed.disconnect()
      plot?.destroy()
    }
  }, [starts, series, zone])
  const totals = series.map(({ label: name, values }) => `${name}: ${showNumber(sumOf(values))}`)
  const isEmpty = series.every(({ values }) => values.every((value) => value === 0))
  return (
    <div className="relative">
      <div ref={box} role="img" aria-label={`${label}. ${totals.join(', ')}`} className="w-full overflow-hidden" />
      {isEmpty && (
        <p className="pointer-events-none absolute inset-x-0 top-20 text-center text-sm text-soft">
          <span className="bg-panel px-2">{empty}</span>
        </p>
      )}
    </div>
  )
}

const sumOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0)

/** uPlot draws from back to front: the sum of all first, so that each shows its own part. */
function dataFor(starts: readonly string[], series: readonly Series[]): uPlot.AlignedData {
  const sums: number[][] = []
  for (const { values } of series.toReversed()) {
    const below = sums[0]
    sums.unshift(values.map((value, i) => value + (below?.[i] ?? 0)))
  }
  return [starts.map((at) => Date.parse(at) / 1_000), ...sums]
}

const timeOf = (seconds: number, zone: string) => formatTime(new Date(seconds * 1_000), zone, 'short')

/** The hour, as it is shown everywhere else; with its day where a day begins, and at the left. */
function tickOf(seconds: number, zone: string, isFirst: boolean): string {
  const [day, hour] = timeOf(seconds, zone).split(', ')
  return isFirst || hour === '00:00' ? `${hour}\n${day}` : hour!
}

function optionsFor(width: number, series: readonly Series[], zone: string): uPlot.Options {
  const axis = {
    stroke: colourOf('soft'),
    grid: { stroke: colourOf('line'), width: 1 },
    ticks: { stroke: colourOf('line'), width: 1 },
  }
  const values = series.map((one) => one.values)
  return {
    width,
    height: HEIGHT,
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1_000), zone),
    cursor: { y: false },
    scales: { y: { range: (_, __, most) => [0, Math.max(most, 4)] } },
    axes: [
      { ...axis, values: (_, splits) => splits.map((split, i) => tickOf(split, zone, i === 0)) },
      {
        ...axis,
        size: 56,
        values: (_, splits) => splits.map((split) => (Number.isInteger(split) ? showNumber(split) : '')),
      },
    ],
    series: [
      // With the pointer elsewhere, the legend says what there is in all.
      { label: zone, value: (_, seconds) => (seconds === null ? 'in all' : timeOf(seconds, zone)) },
      ...series.map(({ label, colour }, i) => ({
        label,
        fill: colourOf(colour),
        stroke: colourOf(colour),
        width: 0,
        paths: uPlot.paths.bars!({ size: [0.9, 40] }),
        points: { show: false },
        value: (_: uPlot, __: number, ___: number, index: number | null) =>
          showNumber(index === null ? sumOf(values[i]!) : (values[i]?.[index] ?? 0)),
      })),
    ],
  }
}
