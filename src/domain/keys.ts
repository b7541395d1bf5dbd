/**
 * Idempotency keys. Whoever schedules the same thing twice builds the same key twice, and the database keeps one row.
 * Two different things never share one: parts do not contain the separator, or are counted.
 */
const SEPARATOR = ':'

const part = (value: string, what: string): string => {
  if (value === '' || value.includes(SEPARATOR))
    throw new RangeError(`${what} must be non-empty and must not contain "${SEPARATOR}": ${JSON.stringify(value)}`)
  return value
}

const counter = (value: number, what: string): string => {
  if (!Number.isSafeInteger(value) || value < 0)
    throw new RangeError(`${what} must be a whole number from 0: ${String(value)}`)
  return String(value)
}

export interface EmailKey {
  /** The caller's, which may be any text, or one that was made. */
  readonly key: string
  /** Its place in a batch; null for one that came by itself. */
  readonly index: number | null
  /** Folded; null when there is only one. */
  readonly recipient: string | null
}

/** The key is last, and what comes before it has a length, so that no key can be written that is another's with more. */
export function emailKey({ key, index, recipient }: EmailKey): string {
  const place = index === null ? [] : ['batch', counter(index, 'index')]
  const to = recipient === null ? [] : ['to', String(recipient.length), recipient]
  return place.length + to.length === 0
    ? ['email', key].join(SEPARATOR)
    : ['email-of', ...place, ...to, 'key', key].join(SEPARATOR)
}

export interface SequenceStep {
  readonly contactId: string
  readonly sequenceId: string
  readonly stepNumber: number
}

export const sequenceStepKey = ({ contactId, sequenceId, stepNumber }: SequenceStep): string =>
  [part(contactId, 'contactId'), part(sequenceId, 'sequenceId'), counter(stepNumber, 'stepNumber')].join(SEPARATOR)

export function parseSequenceStepKey(key: string): SequenceStep | null {
  const [contactId, sequenceId, step, ...rest] = key.split(SEPARATOR)
  if (!contactId || !sequenceId || !step || rest.length > 0 || !/^(0|[1-9]\d*)$/.test(step)) return null
  const stepNumber = Number(step)
  return Number.isSafeInteger(stepNumber) ? { contactId, sequenceId, stepNumber } : null
}

export const campaignEmailKey = (campaignId: string, contactId: string): string =>
  ['campaign', part(campaignId, 'campaignId'), part(contactId, 'contactId')].join(SEPARATOR)

/** One per campaign, so that a campaign can never have two batches in flight. */
export const campaignBatchKey = (campaignId: string): string =>
  ['campaign-batch', part(campaignId, 'campaignId')].join(SEPARATOR)

export interface NodeVisit {
  readonly enrollmentId: string
  readonly nodeId: string
  readonly type: string
  /** How often the enrollment has come to this node: a graph may loop. */
  readonly visit: number
}

export const nodeKey = ({ enrollmentId, nodeId, type, visit }: NodeVisit): string =>
  [part(enrollmentId, 'enrollmentId'), part(nodeId, 'nodeId'), part(type, 'type'), counter(visit, 'visit')].join(
    SEPARATOR,
  )
