import { formatCount, formatFigure } from '../support/table.js'
import type { Delivery } from './deliver-role.js'
import { describeEntry, type Entry, orderOf } from './entries.js'
import { type House, report, type Report } from './house.js'
import { startRole } from './start-role.js'

export interface DeliveryRun {
  readonly round: number
  readonly entry: Entry
  readonly report: Report<Delivery>
}

/**
 * Every contender in a process, a database and with a sink of its own. All variants run once per round, each round in
 * another order, so that a noisy minute hits whoever is running then and not the same one every time.
 */
export async function measureDelivery(
  house: House,
  entries: readonly Entry[],
  { emails, rounds }: { emails: number; rounds: number },
): Promise<DeliveryRun[]> {
  const runs: DeliveryRun[] = []
  for (let round = 0; round < rounds; round++)
    for (const entry of orderOf(entries, round)) {
      if (house.signal.aborted) return runs
      const found = await report(() => deliverOnce(house, entry, emails))
      runs.push({ round, entry, report: found })
      console.log(`round ${round + 1}  ${describeEntry(entry)}: ${describe(found)}`)
    }
  return runs
}

const deliverOnce = (house: House, entry: Entry, emails: number): Promise<Delivery> =>
  house.withSink(emails, async (ground, { port }) => {
    const smtp = { port, connections: entry.connections }
    const databaseUrl = entry.name === 'postrider embedded' ? null : ground.databaseUrl
    const place = { ...ground, databaseUrl, smtp }
    const running = startRole('deliver', { entry, emails, place }, house.rules(`delivery ${describeEntry(entry)}`))
    try {
      return await running.result
    } finally {
      await running.exit()
    }
  })

const describe = (found: Report<Delivery>): string =>
  'failure' in found
    ? `FAILED: ${found.failure}`
    : `${formatCount(found.measured.perSecond)} emails/s (load ${formatFigure(found.measured.loadBefore)})`
