import type { Condition, NodeId, SequenceGraph } from '../../src/domain/sequence.js'

/**
 * Whether what one contact got can have come from walking the sequence: told node by node from what really happened and
 * when, without the code that plans it. Of a graph only its shape is shared with that code.
 */
export interface Walked {
  readonly graph: SequenceGraph
  readonly attributes: Readonly<Record<string, unknown>>
  readonly enrolledAt: number
  /** In the order they went out. */
  readonly mails: readonly { readonly node: NodeId; readonly at: number }[]
  /** What was heard of the contact, in order. */
  readonly events: readonly { readonly type: string; readonly at: number }[]
  /** Something ended the walk: what is missing then is nobody's fault. */
  readonly isCutOff: boolean
}

interface Place {
  readonly node: NodeId | null
  /** From when on the delay of the next node counts. */
  readonly base: number
  /** When the last email went out, or the walk began: what was heard since is heard by the next wait. */
  readonly since: number
  /** How many of the emails are accounted for. */
  readonly got: number
}

/** Told while the email was on its way: whether it is heard as an answer to it is not for a clock to say. */
const AT_ONCE_MS = 5_000

/** Null when there is such a walk; otherwise what is wrong with it. */
export function followPath(walked: Walked): string | null {
  const { graph, enrolledAt } = walked
  return follow(walked, { node: graph.start, base: enrolledAt, since: enrolledAt, got: 0 })
}

function follow(walked: Walked, place: Place): string | null {
  const { mails, isCutOff } = walked
  const { base, since, got } = place
  const next = mails[got]
  if (next === undefined && isCutOff) return null
  const node = place.node === null ? null : walked.graph.nodes.find(({ id }) => id === place.node)
  if (node === undefined) return `there is no node ${place.node}`
  if (node === null || node.type === 'stop') return next ? `got ${next.node} after the end` : null
  switch (node.type) {
    case 'send': {
      if (!next) return `never got ${node.id}`
      if (next.node !== node.id) return `got ${next.node} where ${node.id} was due`
      const early = base + node.delayMs - next.at
      if (early > 0) return `got ${node.id} ${early} ms before its delay was over`
      return follow(walked, { node: node.next, base: next.at, since: next.at, got: got + 1 })
    }
    case 'wait':
      return follow(walked, { ...place, node: node.next, base: base + node.durationMs })
    case 'wait_for': {
      const heard = walked.events.filter(({ type, at }) => type === node.event && at >= since - AT_ONCE_MS)
      const timesOut = base + node.timeoutMs
      const byEvent = (at: number) => follow(walked, { ...place, node: node.onEvent, base: Math.max(at, base) })
      const byTimeout = () => follow(walked, { ...place, node: node.onTimeout, base: timesOut })
      const atOnce = heard
        .filter(({ at }) => at < since)
        .map(
          ({ at }) =>
            () =>
              byEvent(at),
        )
      const after = heard.find(({ at }) => at >= since)
      // A timeout never comes before its time: what was heard before that has won. After it, either may have.
      if (after && after.at < timesOut) return anyOf([() => byEvent(after.at), ...atOnce])
      return anyOf([byTimeout, ...(after ? [() => byEvent(after.at)] : []), ...atOnce])
    }
    case 'branch': {
      const [holds, canHold] = judge(node.condition, walked, base, next?.at ?? Number.POSITIVE_INFINITY)
      const yes = () => follow(walked, { ...place, node: node.then })
      const no = () => follow(walked, { ...place, node: node.else })
      return holds ? yes() : canHold ? anyOf([yes, no]) : no()
    }
  }
}

/** Whether it certainly held, and whether it may have: an event may have come before or after it was asked about. */
function judge(condition: Condition, walked: Walked, from: number, to: number): readonly [boolean, boolean] {
  if ('event' in condition) {
    const heard = walked.events.find(({ type, at }) => type === condition.event && at >= walked.enrolledAt)
    return [heard !== undefined && heard.at < from, heard !== undefined && heard.at <= to]
  }
  if ('attribute' in condition && condition.is === 'equals') {
    const equal = walked.attributes[condition.attribute] === condition.value
    return [equal, equal]
  }
  throw new Error(`the rules do not know ${JSON.stringify(condition)}`)
}

/** Null as soon as one of them is right; otherwise what is wrong with the first. */
function anyOf(ways: readonly (() => string | null)[]): string | null {
  let wrong: string | null = null
  for (const way of ways) {
    const found = way()
    if (found === null) return null
    wrong ??= found
  }
  return wrong
}
