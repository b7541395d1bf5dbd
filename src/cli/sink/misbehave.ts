import type { Fault } from './chaos.js'
import type { Replied } from './ledger.js'
import { failureReply, GARBAGE } from './replies.js'
import type { Wire } from './wire.js'

/** Does what was asked for instead of answering. Slowness is not among it: that is an answer, given slowly. */
export function misbehave(wire: Wire, { act, code, phase, text }: Fault): void {
  if (act === 'reply') {
    wire.say(failureReply(code, phase, text))
    // RFC 5321: who says 421 closes the connection.
    if (code === 421) wire.end()
  } else if (act === 'garbage') wire.say(GARBAGE)
  else if (act === 'drop') wire.end()
  else if (act === 'reset') wire.reset()
  else if (act === 'hang') wire.hang()
}

const REPLIED: Partial<Record<Fault['act'], Replied>> = {
  drop: 'dropped_after_dot',
  reset: 'reset_after_dot',
  hang: 'hung_after_dot',
  garbage: 'garbage_after_dot',
}

/** What the log says the client was told of a message that was taken although this went wrong. */
export const repliedAfter = (fault: Fault | null): Replied => (fault && REPLIED[fault.act]) ?? 'accepted'
