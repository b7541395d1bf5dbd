import type { NewStep } from '../db/schedule-steps.js'
import type { NewAction } from '../domain/action.js'
import { nodeKey, sequenceStepKey } from '../domain/keys.js'
import { type SlotBook, takeSlot } from '../domain/slots.js'
import type { Walk } from '../domain/walk.js'
import { newId } from '../id.js'

/** Who walks, as far as its next emails and waits need to know. */
export interface Walker {
  readonly enrollmentId: string
  readonly campaignId: string
  readonly sequenceId: string
  readonly contactId: string
  readonly recipient: string
  readonly expiresAt: Date | null
  /** Of the move that is being made. */
  readonly visit: number
}

export interface PlannedWalk {
  readonly steps: NewStep[]
  /** Waits and timeouts. */
  readonly timers: NewAction[]
}

/**
 * A follow-up is planned this much later than its delay after the one before it: that one goes out a moment after its
 * slot, and one that comes exactly in time would then be a moment early and have to be moved.
 */
const SLACK_MS = 120_000
/** When the last email of a stretch should be out. If it is not, the wait comes again. */
export const SETTLED_MS = 5_000
/** No slot is in sight, because all days are blacked out. It is looked at again when it comes to be sent. */
const LOOK_AGAIN_MS = 86_400_000
/** A part of keys: the end of a sequence is no node. */
const END = 'end'

/** When the emails, waits and timeouts of a move come: all that a calendar needs to know. */
export interface TimedWalk {
  readonly steps: readonly TimedStep[]
  readonly timers: readonly TimedTimer[]
}

export interface TimedStep {
  readonly nodeId: string
  readonly stepNumber: number
  readonly delayMs: number
  readonly runAt: Date
  readonly bookedOn: string | null
  readonly slotAt: Date | null
}

export interface TimedTimer {
  readonly type: 'wait' | 'timeout'
  readonly nodeId: string | null
  readonly delayMs: number
  readonly runAt: Date
}

export interface Timing {
  readonly book: SlotBook
  readonly now: Date
  readonly random: () => number
}

/** Gives the emails of a move their slots, one after the other, and its waits and timeouts their times. */
export function timeWalk({ effects }: Walk, { book, now, random }: Timing): TimedWalk {
  const steps: TimedStep[] = []
  const timers: TimedTimer[] = []
  let last = now.getTime()
  for (const effect of effects) {
    if (effect.kind === 'send') {
      const { nodeId, stepNumber, delayMs } = effect
      const notBefore = new Date(last + delayMs + (steps.length > 0 ? SLACK_MS : 0))
      const slot = takeSlot(book, notBefore, random)
      const runAt = slot?.at ?? new Date(notBefore.getTime() + LOOK_AGAIN_MS)
      steps.push({ nodeId, stepNumber, delayMs, runAt, bookedOn: slot?.day ?? null, slotAt: slot?.at ?? null })
      last = runAt.getTime()
    } else if (effect.kind === 'wait' || effect.kind === 'timeout') {
      const { kind: type, nodeId, delayMs } = effect
      const runAt = new Date(last + delayMs + (steps.length > 0 ? SETTLED_MS : 0))
      timers.push({ type, nodeId, delayMs, runAt })
    }
  }
  return { steps, timers }
}

/** The same as rows to be written. */
export function planWalk(walk: Walk, walker: Walker, timing: Timing): PlannedWalk {
  const { enrollmentId, campaignId, sequenceId, contactId, recipient, expiresAt, visit } = walker
  const { steps, timers } = timeWalk(walk, timing)
  return {
    steps: steps.map(({ stepNumber, ...step }) => {
      const key = sequenceStepKey({ contactId, sequenceId, stepNumber })
      return { id: newId(), key, campaignId, enrollmentId, contactId, recipient, expiresAt, ...step }
    }),
    timers: timers.map(({ type, nodeId: node, delayMs, runAt }) => {
      const nodeId = node ?? END
      const dedupeKey = nodeKey({ enrollmentId, nodeId, type, visit })
      const payload = { visit, delay: delayMs, due: runAt.toISOString() }
      return { type, laneId: campaignId, dedupeKey, enrollmentId, nodeId, payload, runAt }
    }),
  }
}
