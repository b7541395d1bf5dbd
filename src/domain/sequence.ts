import type { Json } from './action.js'

/** A sequence version is an acyclic graph of nodes; null as a target is the end. `readSequence` is what makes one. */
export interface SequenceGraph {
  readonly start: NodeId
  readonly nodes: readonly SequenceNode[]
}

/** 1 to 64 of a-z, 0-9, _ and -: never a colon, because it becomes a part of keys. */
export type NodeId = string

export type SequenceNode = SendNode | WaitNode | WaitForNode | BranchNode | StopNode

export interface SendNode {
  readonly id: NodeId
  readonly type: 'send'
  readonly templateId: string
  /** Liquid, instead of the template's. */
  readonly subject: string | null
  /** After the step before it. */
  readonly delayMs: number
  /** Whether it continues the thread of the emails before it. */
  readonly reply: boolean
  readonly next: NodeId | null
}

export interface WaitNode {
  readonly id: NodeId
  readonly type: 'wait'
  readonly durationMs: number
  readonly next: NodeId | null
}

export interface WaitForNode {
  readonly id: NodeId
  readonly type: 'wait_for'
  readonly event: string
  readonly timeoutMs: number
  readonly onEvent: NodeId | null
  readonly onTimeout: NodeId | null
}

export interface BranchNode {
  readonly id: NodeId
  readonly type: 'branch'
  readonly condition: Condition
  readonly then: NodeId | null
  readonly else: NodeId | null
}

export interface StopNode {
  readonly id: NodeId
  readonly type: 'stop'
}

export const COMPARISONS = ['equals', 'not_equals', 'contains', 'greater', 'less', 'exists', 'missing', 'in'] as const
export type Comparison = (typeof COMPARISONS)[number]

export type Condition = AllCondition | AnyCondition | NotCondition | EventCondition | AttributeCondition

export interface AllCondition {
  readonly all: readonly Condition[]
}

export interface AnyCondition {
  readonly any: readonly Condition[]
}

export interface NotCondition {
  readonly not: Condition
}

/** It has happened to this contact since it was enrolled. */
export interface EventCondition {
  readonly event: string
}

export interface AttributeCondition {
  /** Dots lead into nested objects. */
  readonly attribute: string
  readonly is: Comparison
  readonly value?: Json
}

/** How an event is named, wherever one is. */
export const EVENT_NAME = /^[a-z][a-z0-9_.-]{0,63}$/

/** Whoever answers, or must not be mailed any more, is out of the sequence, wherever it was. */
export const STOPPING_EVENTS: readonly string[] = ['replied', 'bounced', 'complained', 'unsubscribed']

/** What is planned ahead at once: everything up to the next node at which something has to be decided. */
export interface Stretch {
  readonly sends: readonly PlannedSend[]
  /** A wait_for, branch or stop node, or the end. */
  readonly end: NodeId | null
  /** After the last send, or after the stretch's base. */
  readonly endDelayMs: number
}

export interface PlannedSend {
  readonly nodeId: NodeId
  readonly stepNumber: number
  /** After the send before it, or after the stretch's base. */
  readonly delayMs: number
}

export function readStretch(graph: SequenceGraph, from: NodeId | null): Stretch {
  const numbers = stepNumbers(graph)
  const sends: PlannedSend[] = []
  let delayMs = 0
  let end = from
  while (end !== null) {
    const node = getNode(graph, end)
    if (node.type === 'send') {
      sends.push({ nodeId: node.id, stepNumber: numbers.get(node.id)!, delayMs: delayMs + node.delayMs })
      delayMs = 0
    } else if (node.type === 'wait') delayMs += node.durationMs
    else break
    end = node.next
  }
  return { sends, end, endDelayMs: delayMs }
}

/** The 1-based places of the send nodes among the send nodes. Part of the keys of their emails. */
export function stepNumbers(graph: SequenceGraph): ReadonlyMap<NodeId, number> {
  return new Map(graph.nodes.filter(({ type }) => type === 'send').map(({ id }, i) => [id, i + 1]))
}

export const findNode = (graph: SequenceGraph, id: NodeId): SequenceNode | null =>
  graph.nodes.find((node) => node.id === id) ?? null

export function getNode(graph: SequenceGraph, id: NodeId): SequenceNode {
  const node = findNode(graph, id)
  if (!node) throw new RangeError(`no node is named ${JSON.stringify(id)}`)
  return node
}

/** Where it may go on from a node, by the name of the field that says so. */
export function targetsOf(node: SequenceNode): readonly (readonly [field: string, target: NodeId | null])[] {
  switch (node.type) {
    case 'send':
    case 'wait':
      return [['next', node.next]]
    case 'wait_for':
      return [
        ['onEvent', node.onEvent],
        ['onTimeout', node.onTimeout],
      ]
    case 'branch':
      return [
        ['then', node.then],
        ['else', node.else],
      ]
    case 'stop':
      return []
  }
}
