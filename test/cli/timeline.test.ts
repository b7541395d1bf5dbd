import { expect, test } from 'vitest'
import { toTimeline } from '../../src/cli/timeline.js'
import type { Email, RecordedAttempt } from '../../src/db/emails.js'

const AT = new Date('2026-11-18T10:00:00Z')

const said = (attempt: Partial<RecordedAttempt>): string => {
  const attempts = [
    {
      at: AT,
      actionId: 'a',
      outcome: 'accepted',
      phase: 'reply',
      remoteHost: null,
      durationMs: 1,
      worker: 'w',
      ...attempt,
    },
  ]
  const email = { createdAt: AT, deliveries: [], attempts, events: [] } as unknown as Email
  return toTimeline(email).find(({ kind }) => kind === 'attempt')!.details[0]!
}

test.each([
  [250, '2.0.0', '2.0.0 taken', '250 2.0.0 taken'],
  [250, '2.0.0', '250 2.0.0 taken', '250 2.0.0 taken'],
  [250, '2.0.0', 'taken', '250 2.0.0 taken'],
  [250, null, '250 taken', '250 taken'],
  [250, null, '2500 taken today', '250 2500 taken today'],
  [250, '2.0.0', '', '250 2.0.0'],
  [null, null, 'no answer', 'no answer'],
])('of code %j, enhanced code %j and reply %j each is said once', (code, enhancedCode, reply, line) => {
  expect(said({ code, enhancedCode, reply })).toBe(line)
})
