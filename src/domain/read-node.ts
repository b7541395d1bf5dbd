import { readCondition, WRONG_EVENT } from './read-condition.js'
import { type Path, readFields, readText, readWord, type Say } from './read-fields.js'
import {
  type Condition,
  EVENT_NAME,
  type NodeId,
  type SendNode,
  type SequenceNode,
  STOPPING_EVENTS,
} from './sequence.js'
import { type DelayInput, readDelay, readDuration } from './step-delay.js'

/** A node as people write it. An absent target is the end. */
export type NodeInput =
  | (SendInput & Identified<'send'> & { readonly delay?: DelayInput | undefined; readonly next?: Target })
  | (Identified<'wait'> & { readonly duration: DelayInput; readonly next?: Target })
  | (Identified<'wait_for'> & {
      readonly event: string
      readonly timeout: DelayInput
      readonly onEvent?: Target
      readonly onTimeout?: Target
    })
  | (Identified<'branch'> & { readonly if: Condition; readonly then?: Target; readonly else?: Target })
  | Identified<'stop'>

interface Identified<Type extends SequenceNode['type']> {
  readonly id: NodeId
  readonly type: Type
}

type Target = NodeId | null | undefined

export interface SendInput {
  readonly template: string
  /** Absent: the template's. */
  readonly subject?: string | null | undefined
  /** Absent: it continues the thread if there can be one. */
  readonly reply?: boolean | undefined
}

const FIELDS = {
  send: ['id', 'type', 'template', 'subject', 'delay', 'reply', 'next'],
  wait: ['id', 'type', 'duration', 'next'],
  wait_for: ['id', 'type', 'event', 'timeout', 'onEvent', 'onTimeout'],
  branch: ['id', 'type', 'if', 'then', 'else'],
  stop: ['id', 'type'],
} as const
const TYPES = Object.keys(FIELDS) as SequenceNode['type'][]

const NODE_ID = /^[a-z0-9_-]{1,64}$/
/** What keys call the end. */
const RESERVED_ID = 'end'
const LONGEST_TEMPLATE = 200
const LONGEST_SUBJECT = 998

/** Never true, so that nobody is taken to have written it. */
const NO_CONDITION: Condition = { any: [] }

/**
 * A node out of what people wrote, complete also where something is wrong with it: what it is, and where it leads, is
 * then still known to whoever looks at the whole. Null when not even that can be read.
 */
export function readNode(value: unknown, path: Path, say: Say): SequenceNode | null {
  const type = readType(value, path, say)
  if (type === null) return null
  const at = (name: string): Path => [...path, name]
  const said = readFields<string>(value, FIELDS[type], path, say)!
  const id = readNodeId(said['id'], at('id'), say)
  if (id === null) return null
  const target = (name: string) => readTarget(said[name], at(name), say)
  switch (type) {
    case 'send': {
      const delayMs = said['delay'] === undefined ? 0 : readDelay(said['delay'], at('delay'), say)
      return { id, type, ...readSend(said, path, say), delayMs, next: target('next') }
    }
    case 'wait':
      return { id, type, durationMs: readDuration(said['duration'], at('duration'), say), next: target('next') }
    case 'wait_for':
      return {
        id,
        type,
        event: readAwaited(said['event'], at('event'), say),
        timeoutMs: readDuration(said['timeout'], at('timeout'), say),
        onEvent: target('onEvent'),
        onTimeout: target('onTimeout'),
      }
    case 'branch': {
      const condition = readCondition(said['if'], at('if'), say) ?? NO_CONDITION
      // oxlint-disable-next-line unicorn/no-thenable -- the name of a node cannot be called, so nothing awaits it
      return { id, type, condition, then: target('then'), else: target('else') }
    }
    case 'stop':
      return { id, type }
  }
}

function readType(value: unknown, path: Path, say: Say): SequenceNode['type'] | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    say(path, 'must be an object with an id and a type')
    return null
  }
  return readWord(
    Object.hasOwn(value, 'type') ? (value as { type?: unknown }).type : undefined,
    TYPES,
    [...path, 'type'],
    say,
  )
}

function readNodeId(value: unknown, path: Path, say: Say): NodeId | null {
  if (typeof value === 'string' && NODE_ID.test(value) && value !== RESERVED_ID) return value
  if (value === undefined) say(path, 'is needed: other nodes name it by this')
  else if (value === RESERVED_ID) say(path, 'is what the end itself is called: choose another')
  else say(path, 'must be 1 to 64 lower-case letters, digits, dashes or underscores')
  return null
}

function readTarget(value: unknown, path: Path, say: Say): NodeId | null {
  if (value === undefined || value === null || typeof value === 'string') return value ?? null
  say(path, 'must be the id of a node; leave it out for the end')
  return null
}

/** What an email of a sequence is, whichever way the sequence is written. Whether it replies is false unless said. */
export function readSend(
  said: Readonly<Partial<Record<keyof SendInput, unknown>>>,
  path: Path,
  say: Say,
): Pick<SendNode, 'templateId' | 'subject' | 'reply'> {
  const { subject = null, reply = false } = said
  if (typeof reply !== 'boolean') say([...path, 'reply'], 'must be true or false')
  return {
    templateId: readText(said.template, LONGEST_TEMPLATE, [...path, 'template'], say) ?? '',
    subject: subject === null ? null : readText(subject, LONGEST_SUBJECT, [...path, 'subject'], say),
    reply: reply === true,
  }
}

function readAwaited(value: unknown, path: Path, say: Say): string {
  if (typeof value !== 'string' || !EVENT_NAME.test(value)) say(path, WRONG_EVENT)
  else if (STOPPING_EVENTS.includes(value))
    say(path, `must not be ${value}: whoever ${value} is out of the sequence anyway, so wait for another event`)
  else return value
  return ''
}
