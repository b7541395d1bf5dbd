import { expect } from 'vitest'
import type { HeldAction, RescueWatch } from '../support/rescue-watch.js'
import type { SeededRandom } from '../support/seeded-random.js'
import { until } from '../support/until.js'
import { readLines } from '../support/what-happened.js'
import type { WorkerProcess } from '../support/worker-process.js'

/** Workers of which one after the other is killed and replaced. */
export interface WorkerFleet {
  /** What the kills hit: workers that held something, and what they held. */
  readonly hits: { readonly kills: number; readonly leased: number; readonly armed: number }
  /** Kills one that holds something leased, armed and not handed over yet, or handed over and not settled yet. */
  killOne(aim: Aim): Promise<void>
  /** SIGTERM to all; resolves with what they ended with. */
  stop(): Promise<(number | NodeJS.Signals)[]>
}

export const AIMS = ['leased', 'armed', 'handed over'] as const
export type Aim = (typeof AIMS)[number]

export interface WorkerFleetOptions {
  readonly size: number
  readonly start: () => WorkerProcess
  readonly onDeath: (worker: WorkerProcess) => void
  readonly watch: RescueWatch
  /** Called while nobody is where somebody is to be killed: there may be nothing left to do. */
  readonly onWait: () => Promise<void>
  /** Where hand-overs leave their traces. */
  readonly outside: string
  readonly random: SeededRandom
  /**
   * Whether a victim is frozen before it is looked at, since it moves on meanwhile. Not on an embedded database: there a
   * worker frozen in a transaction would keep everybody out, and us too.
   */
  readonly freezes: boolean
}

export function startWorkerFleet(options: WorkerFleetOptions): WorkerFleet {
  const { size, start, onDeath, watch, onWait, outside, random, freezes } = options
  const fleet = Array.from({ length: size }, start)
  const hits = { kills: 0, leased: 0, armed: 0 }

  const findAimed = async (aim: Aim): Promise<WorkerProcess[]> => {
    const dead = fleet.find(({ isRunning }) => !isRunning)
    if (dead) throw new Error(`A worker ended by itself.\n${dead.log()}`)
    const held = await watch.findHeld()
    const handedOver = new Set(readLines(outside).map(({ action }) => action))
    const isAimed = ({ action, state }: HeldAction) =>
      aim === 'leased' || (state === 'armed' && handedOver.has(action) === (aim === 'handed over'))
    const pids = new Set(held.filter(isAimed).map(({ pid }) => pid))
    const ready = fleet.filter(({ isReady }) => isReady)
    // Somebody has to be left who can bring back what the victim held, in the time that is promised for it.
    return ready.length > 1 ? ready.filter(({ pid }) => pids.has(pid)) : []
  }
  const chooseVictim = async (aim: Aim): Promise<WorkerProcess | null> => {
    const aimed = await findAimed(aim)
    if (aimed.length === 0) {
      await onWait()
      return null
    }
    const victim = random.pick(aimed)
    if (!freezes) return victim
    victim.signal('SIGSTOP')
    if ((await findAimed(aim)).includes(victim)) return victim
    victim.signal('SIGCONT')
    return null
  }

  return {
    hits,
    async killOne(aim) {
      const victim = await until(`a worker with something ${aim}`, () => chooseVictim(aim), { everyMs: 10 })
      const killed = performance.now()
      await victim.kill()
      expect(await victim.exited).toBe('SIGKILL')
      onDeath(victim)
      fleet[fleet.indexOf(victim)] = start()
      const held = await watch.noteDeath(victim.pid, killed)
      hits.leased += held.leased
      hits.armed += held.armed
      if (held.leased + held.armed > 0) hits.kills++
    },
    async stop() {
      // One that is still starting would not hear it, and just end.
      await Promise.all(fleet.map(({ ready }) => ready))
      for (const worker of fleet) worker.signal('SIGTERM')
      return Promise.all(fleet.map(({ exited }) => exited))
    },
  }
}
