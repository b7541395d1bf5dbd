import type { Json } from './action.js'
import type { AttributeCondition, Condition } from './sequence.js'

export interface ConditionFacts {
  readonly attributes: { readonly [key: string]: Json }
  readonly events: ReadonlySet<string>
}

/** Whether a condition is true of a contact. An attribute that is not there, or null, is only ever `missing` or `not_equals`. */
export function holds(condition: Condition, facts: ConditionFacts): boolean {
  if ('all' in condition) return condition.all.every((part) => holds(part, facts))
  if ('any' in condition) return condition.any.some((part) => holds(part, facts))
  if ('not' in condition) return !holds(condition.not, facts)
  if ('event' in condition) return facts.events.has(condition.event)
  return compare(findAttribute(facts.attributes, condition.attribute), condition)
}

function compare(found: Json, { is, value = null }: AttributeCondition): boolean {
  switch (is) {
    case 'exists':
      return found !== null
    case 'missing':
      return found === null
    case 'equals':
      return isEqual(found, value)
    case 'not_equals':
      return !isEqual(found, value)
    case 'in':
      return Array.isArray(value) && value.some((one: Json) => isEqual(found, one))
    case 'contains':
      if (Array.isArray(found)) return found.some((one: Json) => isEqual(one, value))
      return typeof found === 'string' && typeof value === 'string' && found.includes(value)
    case 'greater':
      return isLess(value, found)
    case 'less':
      return isLess(found, value)
  }
}

/** Own properties only: `constructor` is an attribute of nobody. A column of a file may have a dot in its name. */
function findAttribute(attributes: ConditionFacts['attributes'], path: string): Json {
  if (Object.hasOwn(attributes, path)) return attributes[path]!
  let found: Json = attributes
  for (const key of path.split('.')) {
    if (found === null || typeof found !== 'object' || Array.isArray(found) || !Object.hasOwn(found, key)) return null
    found = (found as ConditionFacts['attributes'])[key]!
  }
  return found
}

function isEqual(a: Json, b: Json): boolean {
  const [left, right] = asNumbers(a, b) ?? [a, b]
  return left === right
}

/** Numbers by size, texts by their characters, so that dates such as 2026-12-25 are in order; nothing else is ordered. */
function isLess(a: Json, b: Json): boolean {
  const numbers = asNumbers(a, b)
  if (numbers) return numbers[0] < numbers[1]
  return typeof a === 'string' && typeof b === 'string' && a < b
}

/** A number beside a text that is one: attributes out of a file are all texts. */
function asNumbers(a: Json, b: Json): readonly [number, number] | null {
  if (typeof a !== 'number' && typeof b !== 'number') return null
  const [left, right] = [asNumber(a), asNumber(b)]
  return left === null || right === null ? null : [left, right]
}

function asNumber(value: Json): number | null {
  if (typeof value === 'number') return value
  return typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value) ? Number(value) : null
}
