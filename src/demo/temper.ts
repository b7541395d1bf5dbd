import { type Fault, faultOf, type Temper } from '../cli/sink/chaos.js'

/**
 * How the demo's mail server treats people, by the domain of their address. Each address meets what its domain stands
 * for as often as said here and is treated well from then on, so that a retry by hand succeeds.
 */
export const TROUBLES = {
  /** A mailbox that is not there: the address is suppressed. */
  'gone.example': { fault: faultOf('rcpt:550', '5.1.1 No such gardener here'), times: Infinity },
  /** Not now: the retry policy says when. */
  'slowmail.example': { fault: faultOf('rcpt:451', '4.7.1 Greylisted, please come back later'), times: 3 },
  /** What it does not like is the message, not the person. */
  'strict.example': { fault: faultOf('dot:554', '5.7.1 Refused: the content looks like advertising'), times: 1 },
  /** It takes the message, and the line is dead before it could say so. */
  'thunder.example': { fault: faultOf('dot:taken-drop'), times: 1 },
  /** It asks its sender to slow down. */
  'hurry.example': { fault: faultOf('rcpt:451', '4.7.1 Too many messages, try again in 90 seconds'), times: 1 },
} as const satisfies Record<string, { readonly fault: Fault; readonly times: number }>

export type TroubledDomain = keyof typeof TROUBLES

export function createTemper(): Temper {
  const met = new Map<string, number>()
  return ({ phase, to }) => {
    const address = to?.toLowerCase() ?? ''
    const trouble = Object.entries(TROUBLES).find(([domain]) => address.endsWith(`@${domain}`))?.[1]
    if (!trouble || trouble.fault.phase !== phase) return null
    const times = met.get(address) ?? 0
    met.set(address, times + 1)
    return times < trouble.times ? trouble.fault : null
  }
}
