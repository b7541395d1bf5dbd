const COMPARED: Readonly<Record<string, string>> = {
  equals: 'is',
  not_equals: 'is not',
  contains: 'contains',
  greater: 'is greater than',
  less: 'is less than',
  exists: 'is known',
  missing: 'is not known',
  in: 'is one of',
}

/** A condition in words. Of one that is being written anything may be missing: that is shown as it is written. */
export function describeCondition(condition: unknown): string {
  const { event, attribute, is, value, all, any, not } = (condition ?? {}) as Readonly<Record<string, unknown>>
  if (typeof event === 'string') return `“${event}” happened`
  if (typeof attribute === 'string' && typeof is === 'string' && is in COMPARED)
    return [attribute, COMPARED[is], showValue(value)].filter(Boolean).join(' ')
  if (Array.isArray(all)) return all.map(describePart).join(' and ')
  if (Array.isArray(any)) return any.map(describePart).join(' or ')
  if (not !== undefined) return `not: ${describePart(not)}`
  return JSON.stringify(condition)
}

/** What is made of several stays together. */
function describePart(condition: unknown): string {
  const { all, any } = (condition ?? {}) as Readonly<Record<string, unknown>>
  const isJoined = [all, any].some((parts) => Array.isArray(parts) && parts.length > 1)
  return isJoined ? `(${describeCondition(condition)})` : describeCondition(condition)
}

const showValue = (value: unknown): string =>
  Array.isArray(value)
    ? value.map(showValue).join(', ')
    : typeof value === 'string'
      ? value
      : (JSON.stringify(value) ?? '')
