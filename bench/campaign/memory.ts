import type { Bar } from '../support/bars.js'
import { formatCount, formatFigure, formatTable } from '../support/table.js'
import { type House, report, type Report } from '../delivery/house.js'
import { startRole } from '../delivery/start-role.js'
import type { ProviderName } from './null-provider.js'
import type { Sending } from './send-role.js'

/** The memory of a process that plans and sends a whole campaign. */
export interface MemoryLoad {
  readonly contacts: number
  readonly provider: ProviderName
}

export async function measureMemory(house: House, { contacts, provider }: MemoryLoad): Promise<Report<Sending>> {
  const found = await report(() =>
    house.withGround(async (ground) => {
      const task = { place: { ...ground, smtp: null }, contacts, provider }
      const sender = startRole('sendCampaign', task, house.rules('campaign memory'))
      return sender.result.finally(() => sender.exit())
    }),
  )
  if ('failure' in found) console.log(`memory: FAILED: ${found.failure}`)
  return found
}

export function formatMemory(found: Report<Sending>, { contacts, provider }: MemoryLoad): string {
  const seen = 'measured' in found ? found.measured : null
  const figure = (value: number | undefined) => formatFigure(value ?? Number.NaN)
  return formatTable(
    ['memory', 'idle rss MB', 'peak rss MB', 'rss MB at the end', 'peak heap MB', 'sent/s'],
    [
      [
        `${formatCount(contacts)} recipients, provider ${provider}${seen ? '' : ' FAILED'}`,
        figure(seen?.idleRssMb),
        figure(seen?.peakRssMb),
        figure(seen?.endRssMb),
        figure(seen?.peakHeapMb),
        formatCount(seen?.perSecond ?? Number.NaN),
      ],
    ],
  )
}

const MOST_MB = 150

export function judgeMemory(found: Report<Sending>, { contacts }: MemoryLoad): Bar[] {
  const above = 'measured' in found ? found.measured.peakRssMb - found.measured.idleRssMb : Number.NaN
  return [
    {
      name: `${formatCount(contacts)} recipients planned and sent within ${MOST_MB} MB above idle`,
      value: `${formatFigure(above)} MB`,
      pass: above < MOST_MB,
    },
  ]
}
