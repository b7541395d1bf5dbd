import type { OpenContender } from './contender.js'

/**
 * Who takes part, and with which settings. Every variant runs in every round; of each contender the best is reported,
 * so that nobody loses by a setting that does not suit the machine.
 */
export interface Entry {
  readonly name: ContenderName
  /** In the order of `settingNames`. */
  readonly settings: readonly number[]
}

export const CONTENDERS = {
  postrider: {
    open: async () => (await import('./postrider.js')).openPostriderOnServer,
    settingNames: ['concurrency'],
    variants: [[1_000], [2_000]],
  },
  'postrider embedded': {
    open: async () => (await import('./postrider.js')).openPostriderEmbedded,
    settingNames: ['concurrency'],
    variants: [[1_000], [2_000]],
  },
  'graphile-worker': {
    open: async () => (await import('./graphile-worker.js')).openGraphileWorker,
    settingNames: ['localQueue.size', 'concurrentJobs'],
    variants: [
      [500, 24],
      [1_000, 100],
      [2_000, 500],
    ],
  },
  'pg-boss': {
    open: async () => (await import('./pg-boss.js')).openPgBoss,
    settingNames: ['batchSize', 'fetchers'],
    variants: [
      [1_000, 1],
      [1_000, 2],
    ],
  },
  bullmq: {
    open: async () => (await import('./bullmq.js')).openBullmq,
    settingNames: ['concurrency'],
    variants: [[100], [500]],
  },
} as const satisfies Record<
  string,
  {
    /** Loaded when it is its turn, so that no process carries another contender's code. */
    open: () => Promise<OpenContender>
    settingNames: readonly string[]
    variants: readonly (readonly number[])[]
  }
>

export type ContenderName = keyof typeof CONTENDERS

export const CONTENDER_NAMES = Object.keys(CONTENDERS) as ContenderName[]

export const entriesOf = (names: readonly ContenderName[]): Entry[] =>
  names.flatMap((name) => CONTENDERS[name].variants.map((settings) => ({ name, settings })))

export const describeSettings = ({ name, settings }: Entry): string =>
  CONTENDERS[name].settingNames.map((setting, i) => `${setting} ${settings[i]}`).join(', ')
