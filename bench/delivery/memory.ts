import type { Bar } from '../support/bars.js'
import { median } from '../support/statistics.js'
import { formatCount, formatFigure, formatTable } from '../support/table.js'
import { type House, report, type Report } from './house.js'
import { startRole } from './start-role.js'
import type { Sample } from './work-role.js'

/** The memory of a process that only works, over many emails that another one has accepted before. */
export interface MemoryLoad {
  readonly emails: number
  readonly connections: number
}

export async function measureMemory(house: House, load: MemoryLoad): Promise<Report<readonly Sample[]>> {
  const found = await report(() => workThrough(house, load))
  if ('failure' in found) console.log(`memory: FAILED: ${found.failure}`)
  return found
}

const workThrough = (house: House, { emails, connections }: MemoryLoad): Promise<readonly Sample[]> =>
  house.withSink(emails, async (ground, { port }) => {
    const place = { ...ground, smtp: { port, connections } }
    const feeder = startRole('feed', { place, emails, perSecond: null }, house.rules())
    try {
      await feeder.result
    } finally {
      await feeder.exit()
    }
    const worker = startRole('work', { place, emails, sampleMemory: true }, house.rules('memory'))
    try {
      await worker.ready
      worker.stop()
      return (await worker.result).samples
    } finally {
      await worker.exit()
    }
  })

const SHOWN = [0.2, 0.6, 1]

export function formatMemory(found: Report<readonly Sample[]>, { emails }: MemoryLoad): string {
  const samples = 'measured' in found ? found.measured : []
  return formatTable(
    [`memory of ${formatCount(emails)} emails${'failure' in found ? ' FAILED' : ''}`, 'sent', 'rss MB', 'heap MB'],
    SHOWN.map((share) => {
      const sample = samples.find(({ sent }) => sent >= share * emails)
      return [
        `at ${share * 100} %`,
        formatCount(sample?.sent ?? Number.NaN),
        formatFigure(sample?.rssMb ?? Number.NaN),
        formatFigure(sample?.heapMb ?? Number.NaN),
      ]
    }),
  )
}

const MOST_GROWTH = 1.2

/** By the emails sent, not by time: what grows with every email shows whether it goes fast or slowly. */
export function judgeMemory(found: Report<readonly Sample[]>, { emails }: MemoryLoad): Bar[] {
  const samples = 'measured' in found ? found.measured : []
  const third = (n: number) =>
    median(samples.filter(({ sent }) => Math.min(2, Math.floor((sent / emails) * 3)) === n).map(({ rssMb }) => rssMb))
  const [middle, last] = [third(1), third(2)]
  return [
    {
      name: `resident memory flat: the last third's median at most ${MOST_GROWTH} times the middle third's`,
      value: `${formatFigure(last)} / ${formatFigure(middle)} MB`,
      pass: last <= middle * MOST_GROWTH,
    },
  ]
}
