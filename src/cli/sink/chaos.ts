import { findClosest } from '../../domain/did-you-mean.js'

/** The moments of a conversation at which the sink can misbehave. `dot` is after the final dot has arrived. */
export const PHASES = [
  'connect',
  'greeting',
  'ehlo',
  'starttls',
  'auth',
  'mail',
  'rcpt',
  'data',
  'body',
  'dot',
] as const
export type Phase = (typeof PHASES)[number]

export type Act = 'reply' | 'drop' | 'reset' | 'hang' | 'garbage' | 'slow'

export interface Fault {
  readonly phase: Phase
  /** As it was asked for: `451`, `drop`, `taken-drop` … */
  readonly name: string
  readonly act: Act
  /** The reply code, for `reply` only. */
  readonly code: number
  /** The words after the code, where the usual ones are not what is meant: `4.7.1 Greylisted, try again later`. */
  readonly text?: string
  /** Whether the command is obeyed all the same, and only the answer suffers. At the dot: the message is taken. */
  readonly obeys: boolean
}

export interface ChaosRule {
  readonly fault: Fault
  readonly probability: number
}

/** A mistake in the text of `--chaos`; its message is a sentence for whoever wrote it. */
export class ChaosSyntaxError extends Error {
  override readonly name = 'ChaosSyntaxError'
}

const ACTS: Record<string, { act: Act; obeys: boolean }> = {
  drop: { act: 'drop', obeys: false },
  reset: { act: 'reset', obeys: false },
  hang: { act: 'hang', obeys: false },
  garbage: { act: 'garbage', obeys: false },
  slow: { act: 'slow', obeys: true },
}

/** The two ways to lose a reply look the same to the client and must be told apart by the log: hence names of their own. */
const ACTS_AT_DOT: typeof ACTS = {
  ...ACTS,
  'lost-drop': { act: 'drop', obeys: false },
  'taken-drop': { act: 'drop', obeys: true },
  'taken-reset': { act: 'reset', obeys: true },
  'taken-hang': { act: 'hang', obeys: true },
  'taken-garbage': { act: 'garbage', obeys: true },
}

/** `rcpt:450:0.05,dot:taken-drop` as rules, in their order. */
export function parseChaos(text: string): ChaosRule[] {
  return text
    .split(',')
    .map((rule) => rule.trim())
    .filter((rule) => rule !== '')
    .map(parseRule)
}

function parseRule(rule: string): ChaosRule {
  const [phaseName = '', faultName = '', chance, ...more] = rule.split(':')
  const refuse = (why: string): never => {
    throw new ChaosSyntaxError(`"${rule}" is no chaos rule: ${why}`)
  }
  const phase = PHASES.find((known) => known === phaseName)
  if (phase === undefined) return refuse(`"${phaseName}" is no phase.${suggest(phaseName, PHASES)}`)
  if (faultName === '') return refuse(`it needs a fault, as in ${phase}:451 or ${phase}:drop:0.1.`)
  if (more.length > 0) return refuse('it has more than phase:fault:probability.')
  const probability = chance === undefined ? 1 : Number(chance)
  if (chance?.trim() === '' || !(probability >= 0 && probability <= 1))
    return refuse(`"${chance ?? ''}" is no probability; it is a number from 0 to 1.`)
  return { fault: parseFault(phase, faultName, refuse), probability }
}

function parseFault(phase: Phase, name: string, refuse: (why: string) => never): Fault {
  if (/^\d+$/.test(name)) {
    if (!/^[45]\d\d$/.test(name)) refuse(`a reply code to fail with is from 400 to 599, not ${name}.`)
    return { phase, name, act: 'reply', code: Number(name), obeys: false }
  }
  const known = phase === 'dot' ? ACTS_AT_DOT : ACTS
  const found = Object.hasOwn(known, name) ? known[name] : undefined
  if (found) return { phase, name, code: 0, ...found }
  if (Object.hasOwn(ACTS_AT_DOT, name)) return refuse(`"${name}" exists only after the dot, as dot:${name}.`)
  return refuse(`"${name}" is no fault.${suggest(name, Object.keys(known), 'a reply code such as 451')}`)
}

function suggest(word: string, known: readonly string[], also?: string): string {
  const closest = findClosest(word, known)
  if (closest) return ` Did you mean "${closest}"?`
  return ` There are ${[...known, ...(also ? [also] : [])].join(', ')}.`
}

/** Where a conversation is, and between whom: as far as it is known by then. */
export interface Moment {
  readonly phase: Phase
  readonly from: string | null
  readonly to: string | null
}

/** What goes wrong for one sender or recipient and not for others; asked before the dice are. */
export type Temper = (moment: Moment) => Fault | null

/** A fault as on the command line, such as `rcpt:550`, with words of one's own. */
export function faultOf(rule: string, text?: string): Fault {
  const { fault } = parseRule(rule)
  return text === undefined ? fault : { ...fault, text }
}

/** Decides, each time a phase is reached in one connection, whether something goes wrong there. */
export type Dice = (phase: Phase) => Fault | null

/**
 * The outcome hangs on the seed, the connection's number, the rule and how often the phase was reached in that
 * connection, and on nothing else: how the conversations of several connections interleave changes nothing, so a run
 * can be repeated.
 */
export function createDice(rules: readonly ChaosRule[], seed: number, connection: number): Dice {
  if (rules.length === 0) return () => null
  const visits = new Map<Phase, number>()
  return (phase) => {
    const visit = (visits.get(phase) ?? 0) + 1
    visits.set(phase, visit)
    for (const [index, { fault, probability }] of rules.entries())
      if (fault.phase === phase && fraction([seed, connection, index, visit]) < probability) return fault
    return null
  }
}

/** From 0 up to, but never, 1: the finalizer of MurmurHash3 over the numbers in turn. */
function fraction(numbers: readonly number[]): number {
  let hash = 0x9e3779b1
  for (const number of numbers) {
    hash = Math.imul(hash ^ number, 0x85ebca6b)
    hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
    hash ^= hash >>> 16
  }
  return (hash >>> 0) / 2 ** 32
}
