import type { Json } from './action.js'
import { holds } from './branch-condition.js'
import { getNode, type NodeId, readStretch, type SequenceGraph, STOPPING_EVENTS } from './sequence.js'

/** Where an enrollment is: on its way to a node with the emails in between planned, or there. Null is the end. */
export interface Position {
  readonly nodeId: NodeId | null
  readonly arrived: boolean
}

export type Happening =
  | { readonly kind: 'enrolled' }
  /** The emails of the stretch are out and its waits are over. */
  | { readonly kind: 'arrived' }
  | { readonly kind: 'event'; readonly event: string }
  | { readonly kind: 'timed_out' }
  | { readonly kind: 'stopped'; readonly code: string; readonly reason: string }

export interface Facts {
  readonly attributes: { readonly [key: string]: Json }
  /** Of this contact, since it was enrolled. */
  readonly events: ReadonlySet<string>
  /** Since the last email of the stretch began to be handed over: an answer may be faster than our arriving. */
  readonly recentEvents: ReadonlySet<string>
}

/**
 * What is to be done, in this order, in the transaction that writes the new position.
 *   send      plan this email, so long after the one before it in this list, or after now
 *   wait      come back, so long after the last email of this list, or after now, and say `arrived`
 *   timeout   come back so long after now, and say `timed_out`
 *   cancel    what is pending of a node
 *   complete  it is over, and so is whatever is pending of it
 *   stop      the same, before it came to the end
 */
export type Effect =
  | { readonly kind: 'send'; readonly nodeId: NodeId; readonly stepNumber: number; readonly delayMs: number }
  | { readonly kind: 'wait'; readonly nodeId: NodeId | null; readonly delayMs: number }
  | { readonly kind: 'timeout'; readonly nodeId: NodeId; readonly delayMs: number }
  | { readonly kind: 'cancel'; readonly nodeId: NodeId | null; readonly type?: 'timeout' | 'wait' | 'send' }
  | { readonly kind: 'complete' }
  | { readonly kind: 'stop'; readonly code: string; readonly reason: string }

export interface Walk {
  readonly moved: boolean
  readonly position: Position
  readonly effects: readonly Effect[]
}

/** From here nothing moves any more, also if somebody asks who has not looked at the enrollment's state. */
const OVER: Position = { nodeId: null, arrived: true }

/**
 * Where an enrollment goes when something happens, and what is to be done for it. A position of null is one that has
 * not begun. What does not concern the position moves nothing: of an event and the timeout that raced it, the second
 * finds a position at which it means nothing. A timeout or a wait of an earlier visit is for the caller to tell apart.
 */
export function decideWalk(graph: SequenceGraph, position: Position | null, happening: Happening, facts: Facts): Walk {
  const stop = findStop(happening)
  if (stop)
    return position && isOver(graph, position) ? stay(position) : { moved: true, position: OVER, effects: [stop] }
  if (!position) {
    if (happening.kind !== 'enrolled') throw new RangeError(`${happening.kind} before it was enrolled`)
    return goOn(graph, graph.start, facts)
  }
  if (happening.kind === 'arrived') return position.arrived ? stay(position) : arrive(graph, position.nodeId, facts)
  const node = position.arrived && position.nodeId !== null ? getNode(graph, position.nodeId) : null
  if (node?.type !== 'wait_for') return stay(position)
  if (happening.kind === 'timed_out') return goOn(graph, node.onTimeout, facts)
  if (happening.kind !== 'event' || happening.event !== node.event) return stay(position)
  const onward = goOn(graph, node.onEvent, afterEvent(facts, node.event))
  return { ...onward, effects: [{ kind: 'cancel', nodeId: node.id, type: 'timeout' }, ...onward.effects] }
}

const stay = (position: Position): Walk => ({ moved: false, position, effects: [] })

function findStop(happening: Happening): (Effect & { kind: 'stop' }) | null {
  if (happening.kind === 'stopped') return { kind: 'stop', code: happening.code, reason: happening.reason }
  if (happening.kind !== 'event' || !STOPPING_EVENTS.includes(happening.event)) return null
  return { kind: 'stop', code: happening.event, reason: REASONS[happening.event] ?? `The contact ${happening.event}.` }
}

const REASONS: Readonly<Record<string, string>> = {
  replied: 'The contact replied.',
  bounced: 'An email to the contact bounced.',
  complained: 'The contact complained about an email.',
  unsubscribed: 'The contact unsubscribed.',
}

const isOver = (graph: SequenceGraph, { nodeId, arrived }: Position): boolean =>
  arrived && (nodeId === null || getNode(graph, nodeId).type === 'stop')

/** Sets out from a node: plans the stretch that begins there, and is at its end at once if there is nothing in it. */
function goOn(graph: SequenceGraph, from: NodeId | null, facts: Facts): Walk {
  const { sends, end, endDelayMs } = readStretch(graph, from)
  if (sends.length === 0 && endDelayMs === 0) return arrive(graph, end, facts)
  const effects: Effect[] = sends.map((send) => ({ kind: 'send', ...send }))
  effects.push({ kind: 'wait', nodeId: end, delayMs: endDelayMs })
  return { moved: true, position: { nodeId: end, arrived: false }, effects }
}

/** Has come to the end of a stretch. As deep as there are nodes: the graph has no cycle. */
function arrive(graph: SequenceGraph, nodeId: NodeId | null, facts: Facts): Walk {
  if (nodeId === null) return { moved: true, position: OVER, effects: [{ kind: 'complete' }] }
  const node = getNode(graph, nodeId)
  const position = { nodeId, arrived: true }
  switch (node.type) {
    case 'branch':
      return goOn(graph, holds(node.condition, facts) ? node.then : node.else, facts)
    case 'wait_for':
      return facts.recentEvents.has(node.event)
        ? goOn(graph, node.onEvent, afterEvent(facts, node.event))
        : { moved: true, position, effects: [{ kind: 'timeout', nodeId, delayMs: node.timeoutMs }] }
    case 'stop':
      return {
        moved: true,
        position,
        effects: [{ kind: 'stop', code: 'stop_node', reason: `The sequence stops at its node ${nodeId}.` }],
      }
    case 'send':
    case 'wait':
      throw new RangeError(`${nodeId} is within a stretch, and nobody arrives there`)
  }
}

/** It has happened, whether or not that was written down before we were asked; and it ends one wait, not the next too. */
function afterEvent(facts: Facts, event: string): Facts {
  const recentEvents = new Set(facts.recentEvents)
  recentEvents.delete(event)
  return { ...facts, events: new Set(facts.events).add(event), recentEvents }
}
