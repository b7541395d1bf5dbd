import type { Ground } from './contender.js'
import { CONTENDERS, type Entry } from './entries.js'
import { type Load, measure, type Measurement } from './measure.js'

/** A process of its own for one run of one contender, so that its memory and time are nobody else's. */
export interface Task {
  readonly entry: Entry
  readonly ground: Ground
  readonly load: Load
}

export type Report = { readonly measurement: Measurement } | { readonly failure: string }

const report = (answer: Report) =>
  // Nothing is waited for after the answer: what a contender forgot to close must not hold up the others.
  process.send?.(answer, undefined, undefined, () => process.exit())

process.once('message', (message) => {
  const { entry, ground, load } = message as Task
  const run = async () => {
    const open = await CONTENDERS[entry.name].open()
    return measure(() => open(ground, entry.settings), load)
  }
  run().then(
    (measurement) => report({ measurement }),
    (error: unknown) => report({ failure: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
  )
})
