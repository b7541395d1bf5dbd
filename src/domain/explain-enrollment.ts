import type { EnrollmentState } from './enrollment.js'
import { findNode, type SequenceGraph } from './sequence.js'
import type { ActionState } from './states.js'
import type { Position } from './walk.js'
import { sayInstant } from './say-instant.js'

/** Why an enrollment is where it is and what comes next when, in one sentence for people. */
export interface ExplainedEnrollment extends Position {
  readonly state: EnrollmentState
  /** Why it stopped. */
  readonly reason: string | null
  readonly graph: SequenceGraph
  readonly campaignPaused: boolean
  readonly senderPausedReason: string | null
  /** Its emails in the order of its steps, as far as they are planned. */
  readonly emails: readonly ExplainedStep[]
  /** When its wait or its timeout comes. */
  readonly timerAt: Date | null
  readonly now: Date
}

export interface ExplainedStep {
  readonly stepNumber: number
  readonly state: ActionState
  readonly runAt: Date
  readonly reason: string | null
  readonly reasonCode: string | null
}

const because = (reason: string | null) => (reason ? `: ${reason.replace(/[.\s]+$/, '')}.` : '.')

export function explainEnrollment(enrollment: ExplainedEnrollment): string {
  switch (enrollment.state) {
    case 'completed':
      return 'It came to the end of its sequence.'
    case 'stopped':
      return `It stopped${because(enrollment.reason)}`
    case 'paused':
      return 'Somebody paused it. Resume it to go on.'
    case 'active': {
      if (enrollment.campaignPaused) return 'Its campaign is paused. Resume that to go on.'
      const next = enrollment.emails.find(({ state }) => state !== 'done')
      return next ? explainStep(next, enrollment) : explainWait(enrollment)
    }
  }
}

function explainStep(step: ExplainedStep, { senderPausedReason, now }: ExplainedEnrollment): string {
  const name = `Step ${step.stepNumber}`
  switch (step.state) {
    case 'leased':
    case 'armed':
      return `${name} is being handed over right now.`
    case 'failed':
      return `${name} failed${because(step.reason)} It goes on when somebody retries that, and stops when it is dismissed.`
    case 'uncertain':
      return `Nobody knows whether step ${step.stepNumber} went out. It goes on when somebody resolves that.`
    case 'pending': {
      if (senderPausedReason !== null) return `${name} waits because its sender is paused${because(senderPausedReason)}`
      const due = step.runAt > now ? `at ${sayInstant(step.runAt)}` : 'as soon as a worker takes it'
      return step.reasonCode === null
        ? `${name} goes out ${due}.`
        : `${name} failed for now${because(step.reason)} It is tried again ${due}.`
    }
    default:
      return `${name} did not go out${because(step.reason)} It stops.`
  }
}

/** All that is planned has gone out. */
function explainWait({ nodeId, arrived, graph, timerAt, now }: ExplainedEnrollment): string {
  const node = nodeId === null ? null : findNode(graph, nodeId)
  const late = !timerAt || timerAt <= now
  if (arrived && node?.type === 'wait_for')
    return late
      ? `It has waited for ${node.event} as long as it should, and goes on as soon as a worker takes it.`
      : `It waits for ${node.event} until ${sayInstant(timerAt)}.`
  if (late) return 'It goes on as soon as a worker takes it.'
  switch (node?.type) {
    case 'wait_for':
      return `It waits for ${node.event} from ${sayInstant(timerAt)} on.`
    case 'branch':
      return `It goes on at ${sayInstant(timerAt)}, where its node ${node.id} decides.`
    case 'stop':
      return `It stops at ${sayInstant(timerAt)}.`
    default:
      return `It comes to its end at ${sayInstant(timerAt)}.`
  }
}
