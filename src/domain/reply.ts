import type { Json } from './action.js'

/**
 * Whether what came back was written by a person for us. An out-of-office note, a machine's answer and the sender's own
 * copy of what it sent are none: stopping a sequence for them would be wrong.
 */
export function isRealReply(
  payload: { readonly [key: string]: Json },
  ownAddresses: ReadonlySet<string>,
  fold: (address: string) => string,
): boolean {
  if (payload['auto_reply'] === true || payload['out_of_office'] === true) return false
  const { from } = payload
  if (typeof from === 'string' && ownAddresses.has(fold(addressIn(from)))) return false
  const headers = new Map(
    Object.entries(asObject(payload['headers'])).map(([name, value]) => [
      name.toLowerCase(),
      typeof value === 'string' ? value.toLowerCase() : '',
    ]),
  )
  // RFC 3834: anything but "no" was not written by a person.
  const submitted = headers.get('auto-submitted')
  if (submitted !== undefined && submitted.split(';')[0]?.trim() !== 'no') return false
  if (MACHINES.some((name) => headers.has(name))) return false
  return !PRECEDENCES.includes(headers.get('precedence') ?? '')
}

const MACHINES = ['x-autoreply', 'x-autorespond', 'x-autoresponder']
const PRECEDENCES = ['auto_reply', 'bulk', 'junk', 'list']

const addressIn = (from: string) => /<([^<>]*)>\s*$/.exec(from)?.[1] ?? from.trim()

const asObject = (value: Json | undefined): { readonly [key: string]: Json } =>
  value && typeof value === 'object' && !Array.isArray(value) ? (value as { readonly [key: string]: Json }) : {}
