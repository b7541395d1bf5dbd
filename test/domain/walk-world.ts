import type { NodeId, SequenceGraph } from '../../src/domain/sequence.js'
import { decideWalk, type Effect, type Happening, type Position, type Walk } from '../../src/domain/walk.js'

/** Something that will come back: a wait or a timeout. */
export interface Clock {
  readonly kind: 'wait' | 'timeout'
  readonly nodeId: NodeId | null
  /** How often the enrollment had moved when it was set. */
  readonly visit: number
}

/**
 * What the database does with what is decided, in memory: a row for the enrollment, and rows for what comes later. A
 * clock may be in a worker's hands while something else moves the enrollment, and speak up afterwards.
 */
export class WalkWorld {
  readonly emails: NodeId[] = []
  state: 'active' | 'completed' | 'stopped' = 'active'
  position: Position
  pending: readonly Clock[] = []
  inHand: readonly Clock[] = []
  readonly #graph: SequenceGraph
  readonly #attributes: { readonly [key: string]: string }
  #visit = 0
  #happened = new Set<string>()
  #sinceMoved = new Set<string>()

  constructor(graph: SequenceGraph, attributes: { readonly [key: string]: string }) {
    this.#graph = graph
    this.#attributes = attributes
    this.position = { nodeId: null, arrived: false }
    this.#carryOut(this.#decide(null, { kind: 'enrolled' }))
  }

  /** A worker takes what is due, and has not yet said so. */
  claim(clock: Clock) {
    this.inHand = [...this.inHand, clock]
  }

  /** Says what it came for; whether that still means anything is seen under the enrollment's lock. */
  ring(clock: Clock): boolean {
    this.inHand = this.inHand.filter((each) => each !== clock)
    if (this.state !== 'active' || clock.visit !== this.#visit) return false
    this.pending = this.pending.filter((each) => each !== clock)
    return this.happen({ kind: clock.kind === 'wait' ? 'arrived' : 'timed_out' })
  }

  hear(event: string): boolean {
    this.#happened.add(event)
    this.#sinceMoved.add(event)
    return this.happen({ kind: 'event', event })
  }

  /** Without a look at the state: the decision itself must know when it is over. */
  happen(happening: Happening): boolean {
    const walk = this.#decide(this.position, happening)
    this.#carryOut(walk)
    return walk.moved
  }

  #decide(position: Position | null, happening: Happening): Walk {
    return decideWalk(this.#graph, position, happening, {
      attributes: this.#attributes,
      events: new Set(this.#happened),
      recentEvents: new Set(this.#sinceMoved),
    })
  }

  #carryOut({ moved, position, effects }: Walk) {
    if (!moved) return
    this.#visit++
    this.#sinceMoved = new Set()
    this.position = position
    for (const effect of effects) this.#apply(effect)
  }

  #apply(effect: Effect) {
    switch (effect.kind) {
      case 'send':
        this.emails.push(effect.nodeId)
        return
      case 'wait':
      case 'timeout':
        this.pending = [...this.pending, { kind: effect.kind, nodeId: effect.nodeId, visit: this.#visit }]
        return
      case 'cancel':
        this.pending = this.pending.filter(({ kind, nodeId }) => nodeId !== effect.nodeId || kind !== effect.type)
        return
      case 'complete':
      case 'stop':
        if (this.state !== 'active') throw new Error('it was over')
        this.state = effect.kind === 'stop' ? 'stopped' : 'completed'
        this.pending = []
    }
  }
}
