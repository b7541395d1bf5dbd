import { describe, expect, it } from 'vitest'
import { type Explained, explainEmail } from '../../src/domain/explain-email.js'
import { type ExplainedEnrollment, type ExplainedStep, explainEnrollment } from '../../src/domain/explain-enrollment.js'
import type { SequenceGraph } from '../../src/domain/sequence.js'

const NOW = new Date('2026-11-16T09:00:00Z')
const LATER = new Date('2026-11-18T10:30:00Z')
const EARLIER = new Date('2026-11-14T10:30:00Z')

const GRAPH: SequenceGraph = {
  start: 'click',
  nodes: [
    { id: 'click', type: 'wait_for', event: 'clicked', timeoutMs: 1, onEvent: 'which', onTimeout: null },
    // oxlint-disable-next-line unicorn/no-thenable -- the name of a node
    { id: 'which', type: 'branch', condition: { event: 'opened' }, then: 'halt', else: null },
    { id: 'halt', type: 'stop' },
  ],
}

const enrollment = (more: Partial<ExplainedEnrollment> = {}): ExplainedEnrollment => ({
  state: 'active',
  nodeId: null,
  arrived: false,
  reason: null,
  graph: GRAPH,
  campaignPaused: false,
  senderPausedReason: null,
  emails: [],
  timerAt: null,
  now: NOW,
  ...more,
})

const step = (stepNumber: number, more: Partial<ExplainedStep> = {}): ExplainedStep => ({
  stepNumber,
  state: 'pending',
  runAt: LATER,
  reason: null,
  reasonCode: null,
  ...more,
})

const sent = step(1, { state: 'done', runAt: EARLIER })

describe('why an enrollment is where it is', () => {
  it.each<[string, Partial<ExplainedEnrollment>]>([
    ['It came to the end of its sequence.', { state: 'completed' }],
    ['It stopped: The contact replied.', { state: 'stopped', reason: 'The contact replied.', emails: [sent, step(2)] }],
    ['It stopped.', { state: 'stopped' }],
    ['Somebody paused it. Resume it to go on.', { state: 'paused', emails: [step(1)] }],
    ['Its campaign is paused. Resume that to go on.', { campaignPaused: true, emails: [step(1)] }],
    ['Step 2 goes out at 2026-11-18 10:30:00 UTC.', { emails: [sent, step(2), step(3)] }],
    ['Step 1 goes out as soon as a worker takes it.', { emails: [step(1, { runAt: EARLIER })] }],
    [
      'Step 1 waits because its sender is paused: the password is wrong.',
      { senderPausedReason: 'the password is wrong', emails: [step(1)] },
    ],
    ['Step 2 is being handed over right now.', { emails: [sent, step(2, { state: 'armed' }), step(3)] }],
    [
      'Step 1 failed for now: 450 busy. It is tried again at 2026-11-18 10:30:00 UTC.',
      { emails: [step(1, { reason: '450 busy.', reasonCode: 'transient' })] },
    ],
    [
      'Step 1 failed: 554 no. It goes on when somebody retries that, and stops when it is dismissed.',
      { emails: [step(1, { state: 'failed', reason: '554 no' }), step(2)] },
    ],
    [
      'Nobody knows whether step 1 went out. It goes on when somebody resolves that.',
      { emails: [step(1, { state: 'uncertain' }), step(2)] },
    ],
    [
      'Step 1 did not go out: Its time was over. It stops.',
      { emails: [step(1, { state: 'expired', reason: 'Its time was over.' })] },
    ],
    [
      'It waits for clicked until 2026-11-18 10:30:00 UTC.',
      { nodeId: 'click', arrived: true, timerAt: LATER, emails: [sent] },
    ],
    [
      'It has waited for clicked as long as it should, and goes on as soon as a worker takes it.',
      { nodeId: 'click', arrived: true, timerAt: EARLIER },
    ],
    ['It waits for clicked from 2026-11-18 10:30:00 UTC on.', { nodeId: 'click', timerAt: LATER, emails: [sent] }],
    ['It goes on at 2026-11-18 10:30:00 UTC, where its node which decides.', { nodeId: 'which', timerAt: LATER }],
    ['It stops at 2026-11-18 10:30:00 UTC.', { nodeId: 'halt', timerAt: LATER }],
    ['It comes to its end at 2026-11-18 10:30:00 UTC.', { timerAt: LATER, emails: [sent] }],
    ['It goes on as soon as a worker takes it.', { nodeId: 'which', timerAt: EARLIER, emails: [sent] }],
  ])('%s', (said, more) => {
    expect(explainEnrollment(enrollment(more))).toBe(said)
  })
})

describe('why an email of a sequence is where it is', () => {
  const email = (more: Partial<Explained>): Explained => ({
    status: 'scheduled',
    attempts: 0,
    runAt: LATER,
    expiresAt: null,
    reason: null,
    inDoubt: false,
    lanePaused: false,
    laneHeldUntil: null,
    senderPausedReason: null,
    now: NOW,
    ...more,
  })
  const after = (state: ExplainedStep['state'], runAt = EARLIER) => ({
    walk: { paused: false, before: { stepNumber: 1, state, runAt } },
  })

  it.each<[string, Partial<Explained>]>([
    ['It goes out at 2026-11-18 10:30:00 UTC.', { walk: { paused: false, before: null } }],
    ['It goes out at 2026-11-18 10:30:00 UTC.', after('done')],
    [
      'It will not go out any more: its next time is 2026-11-18 10:30:00 UTC, and it expires at 2026-11-18 10:30:00 UTC.',
      { expiresAt: LATER },
    ],
    ['It waits because its enrollment is paused.', { walk: { paused: true, before: null } }],
    ['It waits because step 1 before it failed: retry or dismiss that.', after('failed')],
    ['It waits because nobody knows whether step 1 before it went out.', after('uncertain')],
    ['It goes out at 2026-11-18 10:30:00 UTC, once step 1 has gone out.', after('pending')],
    [
      'It waits until step 1 has gone out, which is due at 2026-11-18 10:30:00 UTC.',
      { runAt: EARLIER, ...after('pending', LATER) },
    ],
    ['It is due and goes out as soon as a worker takes it.', { runAt: EARLIER, ...after('done') }],
    ['It waits because its lane is paused.', { lanePaused: true, ...after('failed') }],
    ['The next mail server accepted it.', { status: 'sent', ...after('done') }],
  ])('%s', (said, more) => {
    expect(explainEmail(email(more))).toBe(said)
  })
})
