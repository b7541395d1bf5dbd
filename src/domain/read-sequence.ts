import { checkSequence } from './check-sequence.js'
import { type FieldProblem, readFields, type Say, suggest } from './read-fields.js'
import { type NodeInput, readNode, readSend, type SendInput } from './read-node.js'
import { type NodeId, type SendNode, type SequenceGraph, type SequenceNode, targetsOf } from './sequence.js'
import { addUp, showDelay } from './step-delay.js'

/** A sequence as people write it: its nodes, or for the common case its emails one after the other. */
export type SequenceInput = GraphInput | LinearInput

export interface GraphInput {
  /** Absent: the first node. */
  readonly start?: NodeId | undefined
  readonly nodes: readonly NodeInput[]
  readonly steps?: undefined
}

export interface LinearInput {
  readonly steps: readonly StepInput[]
  readonly start?: undefined
  readonly nodes?: undefined
}

/** It continues the thread of the emails before it unless told otherwise. */
export interface StepInput extends SendInput {
  readonly delayDays?: number | undefined
  readonly delayHours?: number | undefined
  readonly delayMinutes?: number | undefined
}

export type ReadSequence =
  | { readonly graph: SequenceGraph; readonly problems?: never }
  | { readonly graph?: never; readonly problems: readonly FieldProblem[] }

const MOST_NODES = 200
/** Each compares a word with all nodes. */
const MOST_SUGGESTIONS = 10
const STEP_FIELDS = ['template', 'delayDays', 'delayHours', 'delayMinutes', 'subject', 'reply'] as const

/** Everything that is wrong with it is said at once. `template` is taken as it stands: whether there is one is not known here. */
export function readSequence(input: unknown): ReadSequence {
  const problems: FieldProblem[] = []
  const say: Say = (path, detail) => void problems.push({ path, detail })
  const said = readFields(input, ['start', 'nodes', 'steps'], [], say)
  if (said === null) return { problems }
  const { start, nodes, steps } = said
  if ((nodes === undefined) === (steps === undefined)) {
    say([], nodes === undefined ? 'needs nodes, or steps' : 'must have either nodes or steps, not both')
    return { problems }
  }
  if (nodes === undefined && start !== undefined)
    say(['start'], 'only belongs beside nodes: steps start with the first')
  const graph = nodes === undefined ? readSteps(steps, say) : readGraph(nodes, start, say)
  return graph === null || problems.length > 0 ? { problems } : { graph }
}

function readGraph(value: unknown, start: unknown, say: Say): SequenceGraph | null {
  if (!isListOf(value, 'nodes', say)) return null
  const read = value.map((node, i) => readNode(node, ['nodes', i], say))
  const places = new Map<NodeId, number>()
  for (const [i, node] of read.entries()) {
    if (!node) continue
    if (!places.has(node.id)) places.set(node.id, i)
    else say(['nodes', i, 'id'], 'is the id of an earlier node as well: choose another')
  }
  const unknown = sayUnknownTargets(read, idsOf(value), say)
  const from = start === undefined ? (read[0]?.id ?? null) : readStart(start, places, say)
  if (!value.some((node) => typeOf(node) === 'send')) say(['nodes'], 'need at least one of type send')

  const nodes = new Map([...places].map(([id, i]) => [id, read[i]!]))
  const { problems, mailedBefore } = checkSequence(nodes, from, {
    pathOf: (id) => ['nodes', places.get(id)!],
    isWhole: from !== null && unknown === 0 && places.size === value.length,
  })
  for (const { path, detail } of problems) say(path, detail)
  const replies = (node: SequenceNode, i: number) =>
    node.type === 'send' && ownField(value[i], 'reply') === undefined
      ? { ...node, reply: mailedBefore.has(node.id) }
      : node
  return from === null ? null : { start: from, nodes: [...nodes.values()].map(replies) }
}

function readStart(start: unknown, places: ReadonlyMap<NodeId, number>, say: Say): NodeId | null {
  if (typeof start === 'string' && places.has(start)) return start
  const meant = typeof start === 'string' ? suggest(start, [...places.keys()]) : ''
  say(['start'], `must be the id of one of the nodes${meant}`)
  return null
}

/** Those of nodes that cannot be read for another reason are named as well: they are not unknown. */
const idsOf = (nodes: readonly unknown[]): ReadonlySet<string> =>
  new Set(nodes.map((node) => ownField(node, 'id')).filter((id) => typeof id === 'string'))

function sayUnknownTargets(read: readonly (SequenceNode | null)[], ids: ReadonlySet<string>, say: Say): number {
  let count = 0
  for (const [i, node] of read.entries())
    for (const [field, target] of node ? targetsOf(node) : [])
      if (target !== null && !ids.has(target)) {
        const meant = count < MOST_SUGGESTIONS ? suggest(target, [...ids]) : ''
        say(['nodes', i, field], `names no node${meant}; leave it out for the end`)
        count++
      }
  return count
}

function readSteps(value: unknown, say: Say): SequenceGraph | null {
  if (!isListOf(value, 'steps', say)) return null
  const id = (i: number) => `step-${i + 1}`
  const nodes = value.map((step, i): SendNode | null => {
    const path = ['steps', i]
    const said = readFields(step, STEP_FIELDS, path, say)
    if (said === null) return null
    const units = { days: 'delayDays', hours: 'delayHours', minutes: 'delayMinutes' } as const
    const amounts = { days: said.delayDays, hours: said.delayHours, minutes: said.delayMinutes }
    const delayMs = addUp(amounts, [...path, 'delayDays'], (unit) => [...path, units[unit]], say)
    if (i > 0 && delayMs === 0)
      say([...path, 'delayDays'], 'is needed: say how long after the step before, in days, hours or minutes')
    const send = readSend({ ...said, reply: said.reply === undefined ? i > 0 : said.reply }, path, say)
    return { id: id(i), type: 'send', ...send, delayMs, next: i + 1 < value.length ? id(i + 1) : null }
  })
  return { start: id(0), nodes: nodes.filter((node) => node !== null) }
}

function isListOf(value: unknown, name: 'nodes' | 'steps', say: Say): value is readonly unknown[] {
  if (Array.isArray(value) && value.length > 0 && value.length <= MOST_NODES) return true
  say([name], `must be a list of 1 to ${MOST_NODES} ${name}`)
  return false
}

const ownField = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined

const typeOf = (node: unknown) => ownField(node, 'type')

/** As people write it, and as `readSequence` reads it back. */
export const showSequence = ({ start, nodes }: SequenceGraph): GraphInput => ({ start, nodes: nodes.map(showNode) })

function showNode(node: SequenceNode): NodeInput {
  const targets = Object.fromEntries(targetsOf(node).filter(([, target]) => target !== null))
  const { id } = node
  switch (node.type) {
    case 'send': {
      const { type, templateId: template, subject, delayMs, reply } = node
      const delay = delayMs > 0 && { delay: showDelay(delayMs) }
      return { id, type, template, ...(subject !== null && { subject }), ...delay, reply, ...targets }
    }
    case 'wait':
      return { id, type: node.type, duration: showDelay(node.durationMs), ...targets }
    case 'wait_for':
      return { id, type: node.type, event: node.event, timeout: showDelay(node.timeoutMs), ...targets }
    case 'branch':
      return { id, type: node.type, if: node.condition, ...targets }
    case 'stop':
      return { id, type: node.type }
  }
}
