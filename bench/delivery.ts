import { parseArgs } from 'node:util'
import { plainError } from '../test/support/services/plain-error.js'
import { formatAccepting, judgeAccepting, measureAccepting } from './delivery/accept.js'
import { bestOf, formatStandings, judgeDelivery, rank, type Standing } from './delivery/delivery-summary.js'
import { CONTENDER_NAMES, entriesOf } from './delivery/entries.js'
import { type House, openHouse } from './delivery/house.js'
import { formatLatency, judgeLatency, measureLatency } from './delivery/latency.js'
import { measureDelivery } from './delivery/measure-delivery.js'
import { formatMemory, judgeMemory, measureMemory } from './delivery/memory.js'
import { chooseSink } from './delivery/sinks.js'
import { type Bar, formatBars } from './support/bars.js'
import { openBenchDatabases } from './support/bench-databases.js'
import { compilePostrider } from './support/compile-postrider.js'
import { describeMachine, readPostgresSettings } from './support/machine.js'
import { writeResults } from './support/results.js'
import { formatCount } from './support/table.js'
import { untilSignal } from './support/until-signal.js'

const PARTS = ['delivery', 'accept', 'latency', 'memory'] as const
const CONNECTIONS = [20, 50, 100]

/**
 * Emails, from the API to a mail server: delivering beside bare nodemailer, accepting by HTTP, the time from due to
 * sent at half load, and the memory of a worker over many emails.
 */
export async function run(args: string[]): Promise<void> {
  const settings = readSettings(args)
  const signal = untilSignal()
  const machine = describeMachine()
  const databases = await openBenchDatabases()
  const compiled = await compilePostrider()
  try {
    const sinkKind = chooseSink(settings.smtpSink, compiled.url)
    const postgres = await readPostgresSettings(databases.adminUrl)
    console.log(`machine  ${JSON.stringify(machine)}`)
    console.log(`postgres ${JSON.stringify(postgres)}`)
    console.log(`sink     ${sinkKind.description}\n`)
    const { timeoutMs, profileDirectory } = settings
    const house = openHouse({ signal, databases, postriderUrl: compiled.url, sinkKind, timeoutMs, profileDirectory })
    const parts = await measureParts(house, settings)

    if (signal.aborted) {
      process.exitCode = 1
      console.log(`\nINTERRUPTED: ${(signal.reason as Error).message} These figures are not a comparison.`)
    }
    for (const { table } of parts) console.log(`\n${table}`)
    const bars = parts.flatMap((part) => part.bars)
    console.log(
      '\n* the best settings of each contender; figures are medians over the rounds, "best" and "max" are not.',
    )
    console.log('  µs are processor time; "machine" counts everybody on this machine, sink and database included.\n')
    console.log(`${formatBars(bars)}\n`)
    const results = Object.fromEntries(parts.map(({ name, seen }) => [name, seen]))
    const sink = sinkKind.description
    console.log(
      writeResults('delivery', { interrupted: signal.aborted, machine, postgres, sink, settings, bars, ...results }),
    )
  } finally {
    compiled.remove()
    await databases.close()
  }
}

interface Part {
  readonly name: (typeof PARTS)[number]
  readonly table: string
  readonly bars: readonly Bar[]
  /** Everything, for whoever wants more than the table. */
  readonly seen: object
}

async function measureParts(house: House, settings: Settings): Promise<Part[]> {
  const { only, rounds, connections } = settings
  const parts: Part[] = []
  let standings: Standing[] = []
  const wants = (name: Part['name']) => only.includes(name) && !house.signal.aborted
  if (wants('delivery')) {
    const entries = entriesOf(settings.contenders, connections)
    console.log(`delivery: ${formatCount(settings.emails)} emails each`)
    const runs = await measureDelivery(house, entries, { emails: settings.emails, rounds })
    standings = rank(runs, entries)
    const table = formatStandings(standings)
    parts.push({ name: 'delivery', table, bars: judgeDelivery(standings), seen: { standings, runs } })
  }
  if (wants('accept')) {
    const load = { rounds, singles: settings.singles, batched: settings.batched, inFlight: settings.inFlight }
    console.log(`accept: ${formatCount(load.singles)} single posts, ${formatCount(load.batched)} emails in batches`)
    const reports = await measureAccepting(house, load)
    const table = formatAccepting(reports)
    parts.push({ name: 'accept', table, bars: judgeAccepting(reports), seen: { load, reports } })
  }
  const best = bestOf(standings, 'postrider')
  const settled = { connections: best?.entry.connections ?? connections[0]! }
  if (wants('latency')) {
    const perSecond = settings.perSecond ?? Math.round((best?.perSecond.median ?? Number.NaN) / 2)
    const peer = bestOf(standings, 'nodemailer')
    const nodemailerPerSecond = peer ? Math.round(peer.perSecond.median / 2) : null
    const { seconds, mostRounds } = settings
    const load = { ...settled, rounds, mostRounds, perSecond, nodemailerPerSecond, seconds }
    const reports = await measureLatency(house, load)
    const table = formatLatency(reports, load)
    parts.push({ name: 'latency', table, bars: judgeLatency(reports, load), seen: { load, reports } })
  }
  if (wants('memory')) {
    const load = { ...settled, emails: settings.memoryEmails }
    console.log(`memory: ${formatCount(load.emails)} emails`)
    const found = await measureMemory(house, load)
    parts.push({
      name: 'memory',
      table: formatMemory(found, load),
      bars: judgeMemory(found, load),
      seen: { load, found },
    })
  }
  return parts
}

type Settings = ReturnType<typeof readSettings>

function readSettings(args: string[]) {
  const { values } = parseArgs({
    args,
    options: {
      n: { type: 'string', default: '60000' },
      rounds: { type: 'string', default: '3' },
      /** Comma-separated parts, to look at some only. */
      only: { type: 'string', default: PARTS.join(',') },
      contenders: { type: 'string', default: CONTENDER_NAMES.join(',') },
      connections: { type: 'string', default: CONNECTIONS.join(',') },
      'accept-n': { type: 'string', default: '10000' },
      'batch-n': { type: 'string', default: '100000' },
      'in-flight': { type: 'string', default: '50' },
      /** Of the latency part, instead of half of what was delivered. */
      rate: { type: 'string' },
      seconds: { type: 'string', default: '20' },
      /** Of the latency part, while the host has left too few emails undisturbed. */
      'most-rounds': { type: 'string', default: '12' },
      'memory-n': { type: 'string', default: '100000' },
      /** Postfix's sink, if it is not on the PATH. */
      'smtp-sink': { type: 'string' },
      timeout: { type: 'string', default: '600' },
      /** Leave CPU profiles of those that are measured here. */
      profile: { type: 'string' },
    },
  })
  const rate = values.rate === undefined ? null : count(values.rate)
  const only = namesOf(values.only, PARTS, 'part')
  if (only.includes('latency') && !only.includes('delivery') && rate === null)
    throw plainError('How much is half load? Measure delivery too, or give --rate.')
  return {
    emails: count(values.n),
    rounds: count(values.rounds),
    only,
    contenders: namesOf(values.contenders, CONTENDER_NAMES, 'contender'),
    connections: values.connections.split(',').map(count),
    singles: count(values['accept-n']),
    batched: count(values['batch-n']),
    inFlight: count(values['in-flight']),
    perSecond: rate,
    seconds: count(values.seconds),
    mostRounds: count(values['most-rounds']),
    memoryEmails: count(values['memory-n']),
    smtpSink: values['smtp-sink'],
    timeoutMs: count(values.timeout) * 1_000,
    profileDirectory: values.profile ?? null,
  }
}

function count(text: string): number {
  if (!/^[1-9]\d*$/.test(text.trim())) throw plainError(`"${text}" is not a whole number of at least 1.`)
  return Number(text)
}

function namesOf<Name extends string>(text: string, known: readonly Name[], what: string): Name[] {
  return text.split(',').map((part) => {
    const name = known.find((one) => one === part.trim())
    if (!name) throw plainError(`There is no ${what} "${part}". There are ${known.join(', ')}.`)
    return name
  })
}
