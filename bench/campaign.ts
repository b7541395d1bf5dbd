import { parseArgs } from 'node:util'
import { acquireService } from '../test/support/services/acquire-service.js'
import { plainError } from '../test/support/services/plain-error.js'
import { redisKind } from '../test/support/services/redis.js'
import { formatFairness, judgeFairness, measureFairness } from './campaign/fair.js'
import { formatMemory, judgeMemory, measureMemory } from './campaign/memory.js'
import { PROVIDERS } from './campaign/null-provider.js'
import { formatPlanning, judgePlanning, measurePlanning } from './campaign/plan.js'
import { type House, openHouse } from './delivery/house.js'
import { chooseSink } from './delivery/sinks.js'
import { describeRedis } from './kernel/redis-settings.js'
import { type Bar, formatBars } from './support/bars.js'
import { openBenchDatabases } from './support/bench-databases.js'
import { compilePostrider } from './support/compile-postrider.js'
import { describeMachine, readPostgresSettings } from './support/machine.js'
import { writeResults } from './support/results.js'
import { formatCount } from './support/table.js'
import { untilSignal } from './support/until-signal.js'

const PARTS = ['plan', 'memory', 'fair'] as const
type PartName = (typeof PARTS)[number]
const CONTACTS: Readonly<Record<PartName, number>> = { plan: 1_000_000, memory: 100_000, fair: 100_000 }
const BATCH_SIZES = [500, 5_000]

/**
 * Campaigns: how fast a list becomes emails beside one row and one job per contact, the memory of a process that plans and
 * sends a whole campaign, and how two campaigns and single emails share a worker.
 */
export async function run(args: string[]): Promise<void> {
  const settings = readSettings(args)
  const signal = untilSignal()
  const machine = describeMachine()
  const databases = await openBenchDatabases()
  const redis = await acquireService(redisKind)
  const compiled = await compilePostrider()
  try {
    const postgres = await readPostgresSettings(databases.adminUrl)
    const redisSettings = await describeRedis(redis.url)
    console.log(`machine  ${JSON.stringify(machine)}`)
    console.log(`postgres ${JSON.stringify(postgres)}`)
    console.log(`redis    ${JSON.stringify(redisSettings)}\n`)
    const sinkKind = chooseSink(undefined, compiled.url)
    const { timeoutMs, profileDirectory } = settings
    const house = openHouse({ signal, databases, postriderUrl: compiled.url, sinkKind, timeoutMs, profileDirectory })
    const parts = await measureParts(house, settings, redis.url)

    if (signal.aborted) {
      process.exitCode = 1
      console.log(`\nINTERRUPTED: ${(signal.reason as Error).message} These figures are not a comparison.`)
    }
    for (const { table } of parts) console.log(`\n${table}`)
    const bars = parts.flatMap((part) => part.bars)
    console.log(`\n${formatBars(bars)}\n`)
    const results = Object.fromEntries(parts.map(({ name, seen }) => [name, seen]))
    const about = { interrupted: signal.aborted, machine, postgres, redis: redisSettings, settings }
    console.log(writeResults('campaign', { ...about, bars, ...results }))
  } finally {
    compiled.remove()
    await databases.close()
    await redis.release()
  }
}

interface Part {
  readonly name: PartName
  readonly table: string
  readonly bars: readonly Bar[]
  /** Everything, for whoever wants more than the table. */
  readonly seen: object
}

async function measureParts(house: House, { only, contacts, provider }: Settings, redisUrl: string): Promise<Part[]> {
  const parts: Part[] = []
  const wants = (name: PartName) => {
    if (!only.includes(name) || house.signal.aborted) return false
    console.log(`${name}: ${formatCount(contacts[name])} contacts`)
    return true
  }
  if (wants('plan')) {
    const found = await measurePlanning(house, { contacts: contacts.plan, batchSizes: BATCH_SIZES, redisUrl })
    parts.push({ name: 'plan', table: formatPlanning(found), bars: judgePlanning(found), seen: found })
  }
  if (wants('memory')) {
    const load = { contacts: contacts.memory, provider }
    const found = await measureMemory(house, load)
    parts.push({ name: 'memory', table: formatMemory(found, load), bars: judgeMemory(found, load), seen: found })
  }
  if (wants('fair')) {
    const load = { contacts: contacts.fair, batchSize: BATCH_SIZES[0]!, provider }
    const found = await measureFairness(house, load)
    parts.push({ name: 'fair', table: formatFairness(found, load), bars: judgeFairness(found, load), seen: found })
  }
  return parts
}

type Settings = ReturnType<typeof readSettings>

function readSettings(args: string[]) {
  const { values } = parseArgs({
    args,
    options: {
      /** Comma-separated parts, to look at some only. */
      only: { type: 'string', default: PARTS.join(',') },
      /** Of every part, instead of what each has. */
      contacts: { type: 'string' },
      /** Where the emails of memory and fair go. */
      provider: { type: 'string', default: 'null' },
      timeout: { type: 'string', default: '1800' },
      /** Leave CPU profiles of those that are measured here. */
      profile: { type: 'string' },
    },
  })
  const given = values.contacts === undefined ? null : count(values.contacts)
  return {
    only: values.only.split(',').map((name) => named(name, PARTS, 'part')),
    contacts: given === null ? CONTACTS : { plan: given, memory: given, fair: given },
    provider: named(values.provider, PROVIDERS, 'provider'),
    timeoutMs: count(values.timeout) * 1_000,
    profileDirectory: values.profile ?? null,
  }
}

function count(text: string): number {
  if (!/^[1-9]\d*$/.test(text.trim())) throw plainError(`"${text}" is not a whole number of at least 1.`)
  return Number(text)
}

function named<Name extends string>(text: string, known: readonly Name[], what: string): Name {
  const name = known.find((one) => one === text.trim())
  if (!name) throw plainError(`There is no ${what} "${text}". There are ${known.join(', ')}.`)
  return name
}
