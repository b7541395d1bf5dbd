import { inTime } from '../in-time.js'
import { createSlices } from '../slices.js'
import type { Context } from './context.js'
import {
  type CampaignSimulation,
  simulateCampaign,
  type SimulationInput,
  type SimulationOptions,
} from './simulate-campaign.js'

/**
 * Looking ahead for somebody who does not wait: what takes longer than they have goes on, a slice at a time, and they ask
 * again. Whoever asks the same meanwhile looks on. Nothing here decides anything: lost with the process, it is computed
 * anew.
 */
export interface LookedSoFar {
  /** From 0 to 1; a guess. */
  readonly progress: number
  /** What was computed by now; null when it has not begun. */
  readonly soFar: CampaignSimulation | null
}

/** Each holds a connection of the database while it is computed. */
const MOST_AT_ONCE = 2
/** Begun, waiting or done. An answer is as large as the emails it shows by name. */
const MOST_KEPT = 20
/** A computation that nobody asked about for so long is given up. */
const FORGOTTEN_MS = 15_000
/** An answer is the same for so long after it was given. */
const KEPT_MS = 5_000

interface Look {
  askedAt: number
  givenAt: number | null
  progress: number
  soFar: (() => CampaignSimulation) | null
  readonly answer: Promise<CampaignSimulation>
}

interface Desk {
  /** By what was asked, in the order it was. */
  readonly looks: Map<string, Look>
  running: number
  /** Those that begin when others have ended. */
  readonly waiting: (() => void)[]
}

const desks = new WeakMap<Context, Desk>()

export async function lookAhead(
  context: Context,
  workspaceId: string,
  id: string,
  input: SimulationInput,
  withinMs: number,
): Promise<CampaignSimulation | LookedSoFar> {
  const desk = desks.get(context) ?? { looks: new Map(), running: 0, waiting: [] }
  desks.set(context, desk)
  forget(desk)
  const key = JSON.stringify([workspaceId, id, input.days, input.limit, input.timezone ?? null])
  const look =
    desk.looks.get(key) ?? begin(desk, key, (options) => simulateCampaign(context, workspaceId, id, input, options))
  look.askedAt = performance.now()
  if (await inTime(look.answer, withinMs)) {
    look.givenAt ??= performance.now()
    return look.answer
  }
  return { progress: look.progress, soFar: look.soFar?.() ?? null }
}

function begin(desk: Desk, key: string, simulate: (options: SimulationOptions) => Promise<CampaignSimulation>): Look {
  const isWanted = () => desk.looks.get(key) === look && performance.now() - look.askedAt < FORGOTTEN_MS
  const compute = async (): Promise<CampaignSimulation> => {
    if (desk.running >= MOST_AT_ONCE) await new Promise<void>((resolve) => desk.waiting.push(resolve))
    desk.running++
    try {
      return await simulate({
        slices: createSlices(isWanted),
        onProgress(progress, soFar) {
          look.progress = progress
          look.soFar = soFar
        },
      })
    } catch (error) {
      // Whoever waits is told; whoever comes later tries again.
      if (desk.looks.get(key) === look) desk.looks.delete(key)
      throw error
    } finally {
      desk.running--
      desk.waiting.shift()?.()
    }
  }
  const look: Look = { askedAt: performance.now(), givenAt: null, progress: 0, soFar: null, answer: compute() }
  desk.looks.set(key, look)
  return look
}

/** What was given a while ago, what nobody asks for, and the oldest of too many. */
function forget({ looks }: Desk): void {
  const now = performance.now()
  for (const [key, { askedAt, givenAt }] of looks)
    if (now - askedAt > FORGOTTEN_MS || (givenAt !== null && now - givenAt > KEPT_MS)) looks.delete(key)
  for (const key of looks.keys()) if (looks.size >= MOST_KEPT) looks.delete(key)
}
