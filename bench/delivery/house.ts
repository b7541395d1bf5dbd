import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { BenchDatabases } from '../support/bench-databases.js'
import type { Place } from './open-postrider.js'
import type { Sink, SinkKind } from './sinks.js'
import type { RoleOptions } from './start-role.js'

/** What all parts of this benchmark use: empty databases, sinks, and the rules for processes. */
export interface House {
  readonly signal: AbortSignal
  readonly postriderUrl: string
  /** Rules for a process; one with a label leaves a CPU profile under that name, if profiles are wanted. */
  rules(label?: string): RoleOptions
  /** A database and a directory that are gone afterwards. */
  withGround<T>(work: (ground: Ground) => Promise<T>): Promise<T>
  /** The same, and a sink. Throws if the sink counts and did not take as many messages as `messages`. */
  withSink<T>(messages: number, work: (ground: Ground, sink: Sink) => Promise<T>): Promise<T>
}

export type Ground = Pick<Place, 'postriderUrl' | 'dataDirectory'> & { readonly databaseUrl: string }

export interface HouseOptions {
  readonly signal: AbortSignal
  readonly databases: BenchDatabases
  readonly postriderUrl: string
  readonly sinkKind: SinkKind
  readonly timeoutMs: number
  readonly profileDirectory: string | null
}

export function openHouse(options: HouseOptions): House {
  const { signal, databases, postriderUrl, sinkKind, timeoutMs, profileDirectory } = options
  let grounds = 0
  let profiles = 0
  if (profileDirectory !== null) mkdirSync(profileDirectory, { recursive: true })

  const house: House = {
    signal,
    postriderUrl,
    rules: (label) => ({
      signal,
      timeoutMs,
      profileFile:
        profileDirectory !== null && label !== undefined
          ? join(
              profileDirectory,
              `${label.replaceAll(/\W+/g, ' ').trim().replaceAll(' ', '-')}-${++profiles}.cpuprofile`,
            )
          : null,
    }),
    async withGround(work) {
      const suffix = String(grounds++)
      const dataDirectory = mkdtempSync(join(tmpdir(), 'postrider-bench-'))
      try {
        const databaseUrl = await databases.create(suffix)
        await databases.checkpoint()
        return await work({ postriderUrl, databaseUrl, dataDirectory })
      } finally {
        await databases.drop(suffix)
        rmSync(dataDirectory, { recursive: true, force: true })
      }
    },
    withSink: (messages, work) =>
      house.withGround(async (ground) => {
        const sink = await sinkKind.start(house.rules())
        let result
        try {
          result = await work(ground, sink)
        } catch (error) {
          await sink.stop()
          throw error
        }
        const taken = await sink.stop()
        if (taken !== null && taken !== messages)
          throw new Error(`${messages} emails were sent, but the sink took ${taken}.`)
        return result
      }),
  }
  return house
}

/** What came of one measurement. A failure is a result too, and the others still have their turn. */
export type Report<T> = { readonly measured: T } | { readonly failure: string }

export async function report<T>(work: () => Promise<T>): Promise<Report<T>> {
  try {
    return { measured: await work() }
  } catch (error) {
    return { failure: error instanceof Error ? error.message : String(error) }
  }
}

export const measuredOf = <T>(reports: readonly Report<T>[]): T[] =>
  reports.flatMap((one) => ('measured' in one ? [one.measured] : []))

export const failuresOf = (reports: readonly Report<unknown>[]): string[] =>
  reports.flatMap((one) => ('failure' in one ? [one.failure] : []))
