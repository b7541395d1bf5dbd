import { holds } from '../../src/domain/branch-condition.js'
import type { NodeId, SequenceGraph, SequenceNode } from '../../src/domain/sequence.js'

/**
 * What should become of somebody in a sequence, told node by node, with no stretches and no effects. It is kept simple
 * enough to be believed.
 */
export class WalkModel {
  readonly emails: NodeId[] = []
  phase: 'on the way' | 'waiting' | 'completed' | 'stopped' = 'on the way'
  at: NodeId | null = null
  readonly #nodes: ReadonlyMap<NodeId, SequenceNode>
  readonly #happened = new Set<string>()
  #sinceMoved = new Set<string>()
  readonly #attributes: { readonly [key: string]: string }

  constructor(graph: SequenceGraph, attributes: { readonly [key: string]: string }) {
    this.#attributes = attributes
    this.#nodes = new Map(graph.nodes.map((node) => [node.id, node]))
    this.#goTo(graph.start)
  }

  get isOver(): boolean {
    return this.phase === 'completed' || this.phase === 'stopped'
  }

  get awaited(): string | null {
    const node = this.at === null ? null : this.#nodes.get(this.at)
    return this.phase === 'waiting' && node?.type === 'wait_for' ? node.event : null
  }

  /** The emails are out and the waits over. */
  arrive() {
    this.#land()
    this.#sinceMoved = new Set()
  }

  timeOut() {
    const node = this.#nodes.get(this.at!)
    if (node?.type !== 'wait_for') throw new Error('no timeout was set')
    this.#goTo(node.onTimeout)
    this.#sinceMoved = new Set()
  }

  hear(event: string) {
    this.#happened.add(event)
    if (this.awaited !== event) {
      this.#sinceMoved.add(event)
      return
    }
    this.#leaveByEvent()
    this.#sinceMoved = new Set()
  }

  stop() {
    if (!this.isOver) this.phase = 'stopped'
  }

  #goTo(target: NodeId | null) {
    let takesTime = false
    this.at = target
    for (;;) {
      const node = this.at === null ? null : this.#nodes.get(this.at)!
      if (node?.type !== 'send' && node?.type !== 'wait') break
      takesTime = true
      if (node.type === 'send') this.emails.push(node.id)
      this.at = node.next
    }
    this.phase = 'on the way'
    if (!takesTime) this.#land()
  }

  #land() {
    const node = this.at === null ? null : this.#nodes.get(this.at)!
    if (node === null) this.phase = 'completed'
    else if (node.type === 'stop') this.phase = 'stopped'
    else if (node.type === 'branch')
      this.#goTo(
        holds(node.condition, { attributes: this.#attributes, events: this.#happened }) ? node.then : node.else,
      )
    else {
      this.phase = 'waiting'
      if (this.#sinceMoved.has(this.awaited!)) this.#leaveByEvent()
    }
  }

  #leaveByEvent() {
    const node = this.#nodes.get(this.at!)
    if (node?.type !== 'wait_for') throw new Error('nothing was waited for')
    // What has ended one wait does not end the next.
    this.#sinceMoved.delete(node.event)
    this.#goTo(node.onEvent)
  }
}
