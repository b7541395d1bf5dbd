import { describe, expect, it } from 'vitest'
import { OPEN_PACE, type Pace } from '../../src/domain/pace.js'
import type { SequenceGraph } from '../../src/domain/sequence.js'
import { checkRules, type Facts, type Mail } from './rules.js'
import { DAY, HOUR, MINUTE, SECOND } from './world.js'

/** Who judges is judged: a world in which all is well, and one wrong thing at a time. */
const send = (id: string, delayMs: number, reply: boolean, next: string | null) =>
  ({ id, type: 'send', templateId: 't', subject: null, delayMs, reply, next }) as const
const GRAPH: SequenceGraph = {
  start: 'a',
  nodes: [
    send('a', 0, false, 'w'),
    { id: 'w', type: 'wait_for', event: 'clicked', timeoutMs: DAY, onEvent: 'yes', onTimeout: 'no' },
    send('yes', HOUR, true, null),
    send('no', HOUR, true, null),
  ],
}
/** A Monday. */
const AT = Date.parse('2027-06-07T10:00:00Z')
const PACE: Pace = { ...OPEN_PACE, sendingDays: [1, 2, 3, 4, 5], startMinute: 540, endMinute: 1_020, dailyQuota: 3 }

const mail = (to: string, node: string, at: number, more: Partial<Mail> = {}): Mail => ({
  at,
  date: at,
  to,
  from: 's@sender.test',
  campaign: 'campaign',
  sequence: 'sequence',
  node,
  subject: 'a of sequence',
  messageId: `<${node}-${to}>`,
  inReplyTo: null,
  references: [],
  ...more,
})
const answer = (to: string, node: string, at: number, more: Partial<Mail> = {}) =>
  mail(to, node, at, {
    subject: 'Re: a of sequence',
    inReplyTo: `<a-${to}>`,
    references: [`<a-${to}>`],
    ...more,
  })
const walk = (to: string) => ({
  to,
  campaign: 'campaign',
  sequence: 'sequence',
  attributes: {},
  enrolledAt: AT,
  state: 'completed',
})

/** Ada clicks, Bob does not. */
const WELL: Facts = {
  senders: [{ address: 's@sender.test', pace: PACE, rampUpFrom: null }],
  campaigns: [
    { name: 'campaign', sequence: 'sequence', list: 'list', graph: GRAPH, contacts: ['ada', 'bob'], launchedAt: AT },
  ],
  walks: [walk('ada'), walk('bob')],
  mails: [
    mail('ada', 'a', AT),
    mail('bob', 'a', AT + MINUTE),
    answer('ada', 'yes', AT + 3 * HOUR),
    answer('bob', 'no', AT + DAY + 2 * HOUR),
  ],
  events: [{ at: AT + 2 * HOUR, to: 'ada', type: 'clicked', sequence: 'sequence' }],
  stops: [],
  pauses: [],
}
const instead = (place: number, change: Partial<Mail>): Partial<Facts> => ({
  mails: WELL.mails.map((one, i) => (i === place ? { ...one, ...change } : one)),
})
const sender = (pace: Partial<Pace>, rampUpFrom: string | null = null): Partial<Facts> => ({
  senders: [{ address: 's@sender.test', pace: { ...PACE, ...pace }, rampUpFrom }],
})

describe('the rules', () => {
  it('have nothing to say when all is well', () => expect(checkRules(WELL, { isOver: true })).toEqual([]))

  it.each<[string, Partial<Facts>]>([
    ['before its hours', sender({ startMinute: 601 })],
    ['at the end of its hours', sender({ endMinute: 600 })],
    ['on the wrong day', sender({ sendingDays: [2, 3, 4, 5] })],
    ['on a date that is blacked out', sender({ blackoutDates: ['2027-06-08'] })],
    ['in hours that are those of another timezone', sender({ timezone: 'Asia/Tokyo' })],
    ['more than the quota', sender({ dailyQuota: 2 })],
    ['more than the ramp-up', sender({ rampUpEnabled: true, rampUpStart: 1, rampUpStep: 1 }, '2027-06-06')],
    ['closer than the gap', instead(1, { at: AT + 29 * SECOND })],
    ['a step twice', { mails: [...WELL.mails, mail('ada', 'a', AT + 4 * HOUR)] }],
    ['a step before its delay', instead(2, { at: AT + 2 * HOUR + 59 * MINUTE })],
    ['a step before its timeout', instead(3, { at: AT + 6 * HOUR })],
    ['the step of the other branch', instead(2, { node: 'no', at: AT + DAY + 3 * HOUR })],
    ['a branch nothing led to', { events: [] }],
    ['a step too few', { mails: WELL.mails.slice(0, 3) }],
    ['somebody left out', { walks: [walk('ada')], mails: WELL.mails.filter(({ to }) => to === 'ada') }],
    ['somebody enrolled twice', { walks: [...WELL.walks, walk('bob')] }],
    ['a walk that never ends', { walks: [walk('ada'), { ...walk('bob'), state: 'active' }] }],
    ['another sender', instead(2, { from: 'x@sender.test' })],
    ['no thread', instead(2, { inReplyTo: null })],
    ['the wrong thread', instead(2, { references: ['<a-bob>'] })],
    ['another subject', instead(2, { subject: 'Re: us' })],
    ['mail after a reply', { stops: [{ at: AT + HOUR, why: 'it replied', to: 'ada', sequence: 'sequence' }] }],
    ['mail after leaving the list', { stops: [{ at: AT + HOUR, why: 'it left', to: 'ada', list: 'list' }] }],
    ['mail after a bounce', { stops: [{ at: AT + HOUR, why: 'it bounced', to: 'bob' }] }],
    ['mail of a campaign that is canceled', { stops: [{ at: AT + HOUR, why: 'canceled', campaign: 'campaign' }] }],
    ['mail in a pause', { pauses: [{ from: AT + HOUR, until: AT + 4 * HOUR, to: 'ada', sequence: 'sequence' }] }],
  ])('see %s', (_, wrong) => {
    expect(checkRules({ ...WELL, ...wrong }, { isOver: true })).not.toEqual([])
  })

  it('leave alone who was stopped before the rest came', () => {
    const stops = [{ at: AT + HOUR, why: 'it replied', to: 'ada', sequence: 'sequence' }]
    const mails = WELL.mails.filter(({ node }) => node !== 'yes')
    const walks = [{ ...walk('ada'), state: 'stopped' }, walk('bob')]
    expect(checkRules({ ...WELL, stops, mails, walks }, { isOver: true })).toEqual([])
  })
})
