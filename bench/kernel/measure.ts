import { loadavg } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { readBusySeconds } from '../support/machine.js'
import { quantile } from '../support/statistics.js'
import type { Contender, Tally } from './contender.js'

/** What is asked of every contender, in the same order and by the same clock. */
export interface Load {
  /** Size of the backlog. */
  readonly jobs: number
  readonly steadyPerSecond: number
  readonly steadySeconds: number
}

export interface Phase {
  readonly seconds: number
  readonly perSecond: number
  /** Of the contender's own process. */
  readonly cpuSeconds: number
  /** Of the whole machine: the database's share is in here, and so is everybody else's. */
  readonly machineCpuSeconds: number
}

export interface Latency {
  readonly p50: number
  readonly p99: number
  readonly max: number
}

export interface Measurement {
  readonly scheduling: Phase
  readonly processing: Phase
  /** From the moment the schedule call resolved to the handler's start; 0 when the handler was first. */
  readonly latencyMs: Latency
  /** From the moment schedule was called. */
  readonly latencyFromCallMs: Latency
  /** Of the machine in the minute before, the contender that ran then included: tells a disturbed round from a slow one. */
  readonly loadBefore: number
  readonly rssBeforeMb: number
  readonly rssPeakMb: number
  readonly cpuSeconds: number
  readonly scheduled: number
  readonly tally: Tally
}

const BATCH = 1_000
const CALLERS = 2
const POLL_MS = 5
/** Between the backlog and the steady load, so that the tail of the one is not in the figures of the other. */
const PAUSE_MS = 500

export async function measure(open: () => Promise<Contender>, load: Load): Promise<Measurement> {
  const loadBefore = loadavg()[0]!
  const rssBeforeMb = process.memoryUsage.rss() / 2 ** 20
  const cpuBefore = process.cpuUsage()
  const contender = await open()
  const steadyJobs = Math.round(load.steadyPerSecond * load.steadySeconds)
  const scheduled = load.jobs + steadyJobs
  const startedAt = new Float64Array(scheduled)
  let started = 0
  let startedAgain = 0
  const onStart = (id: number) => {
    // Not thrown: a contender would take it for a failed job and try once more.
    if (startedAt[id] !== 0) return void startedAgain++
    startedAt[id] = performance.now()
    started++
  }
  const finished = async (count: number) => {
    while (started < count) await sleep(POLL_MS)
    while (!(await contender.isIdle())) await sleep(POLL_MS)
  }

  const scheduling = await phase(load.jobs, () => scheduleBacklog(contender, load.jobs))
  const processing = await phase(load.jobs, async () => {
    await contender.start(onStart)
    await finished(load.jobs)
  })
  await sleep(PAUSE_MS)
  const { calledAt, resolvedAt } = await scheduleSteadily(contender, load.jobs, steadyJobs, load.steadyPerSecond)
  await finished(scheduled)
  await contender.stop()
  const cpu = process.cpuUsage(cpuBefore)
  const rssPeakMb = process.resourceUsage().maxRSS / 1_024

  const tally = await contender.tally()
  if (startedAgain > 0) throw new Error(`${startedAgain} jobs were started more than once.`)
  if (tally.unfinished > 0) throw new Error(`${tally.unfinished} jobs are not done.`)
  if (tally.done !== null && tally.done !== scheduled)
    throw new Error(`${scheduled} jobs were scheduled, but ${tally.done} are kept as done.`)
  const steadyStarts = startedAt.subarray(load.jobs)
  return {
    scheduling,
    processing,
    latencyMs: summarize(steadyStarts, resolvedAt),
    latencyFromCallMs: summarize(steadyStarts, calledAt),
    loadBefore,
    rssBeforeMb,
    rssPeakMb,
    cpuSeconds: (cpu.user + cpu.system) / 1e6,
    scheduled,
    tally,
  }
}

async function phase(jobs: number, work: () => Promise<void>): Promise<Phase> {
  const cpuBefore = process.cpuUsage()
  const busyBefore = readBusySeconds()
  const from = performance.now()
  await work()
  const seconds = (performance.now() - from) / 1_000
  const cpu = process.cpuUsage(cpuBefore)
  return {
    seconds,
    perSecond: jobs / seconds,
    cpuSeconds: (cpu.user + cpu.system) / 1e6,
    machineCpuSeconds: readBusySeconds() - busyBefore,
  }
}

async function scheduleBacklog(contender: Contender, jobs: number): Promise<void> {
  let next = 0
  const caller = async () => {
    while (next < jobs) {
      const first = next
      next = Math.min(jobs, first + BATCH)
      await contender.schedule(Array.from({ length: next - first }, (_, i) => first + i))
    }
  }
  await Promise.all(Array.from({ length: CALLERS }, caller))
}

/** By the clock, not one after the other: a contender that is slow to answer must not get less to do. */
async function scheduleSteadily(contender: Contender, firstId: number, jobs: number, perSecond: number) {
  const calledAt = new Float64Array(jobs)
  const resolvedAt = new Float64Array(jobs)
  const call = async (i: number) => {
    calledAt[i] = performance.now()
    await contender.schedule([firstId + i])
    resolvedAt[i] = performance.now()
  }
  const calls: Promise<void>[] = []
  const from = performance.now()
  for (let i = 0; i < jobs; i++) {
    const early = from + (i * 1_000) / perSecond - performance.now()
    if (early > 0) await sleep(early)
    calls.push(call(i))
  }
  await Promise.all(calls)
  return { calledAt, resolvedAt }
}

function summarize(until: Float64Array, from: Float64Array): Latency {
  const waits = Array.from(until, (at, i) => Math.max(0, at - from[i]!))
  return { p50: quantile(waits, 0.5), p99: quantile(waits, 0.99), max: quantile(waits, 1) }
}
