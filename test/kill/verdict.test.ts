import { expect, it } from 'vitest'
import type { HandOver } from './judge.js'
import type { EmailRecord } from './records.js'
import { type Evidence, judge } from './verdict.js'

const recipient = 'one@storm.test'
const handOver = (seen: Partial<HandOver>): HandOver => ({
  door: 'worker 1',
  recipient,
  at: 0,
  reached: 'go',
  messageId: null,
  sha256: null,
  taken: false,
  begun: null,
  answer: null,
  answered: null,
  left: null,
  fault: null,
  ...seen,
})
const record = (said: Partial<EmailRecord>): EmailRecord => ({
  recipient,
  id: 'one',
  messageId: '<one@storm.test>',
  state: 'uncertain',
  reasonCode: 'recipient',
  attempts: 2,
  rescues: 1,
  inDoubt: true,
  outcomes: [],
  ...said,
})
const brokenBy = (said: Partial<EmailRecord>, handOvers: HandOver[], more: Partial<Evidence> = {}) =>
  judge({
    wishes: [{ recipient, body: {}, ids: new Set(['one']), lostAnswers: 0, abandoned: false }],
    records: [record(said)],
    handOvers,
    deaths: [],
    onUncertain: 'resend',
    ...more,
  }).broken

const givenUp = handOver({ left: 1 })
const refused = handOver({ door: 'worker 2', reached: 'envelope', answer: 550, answered: 2, fault: 'rcpt:550' })

it('an email is in doubt whose lease ran out after its arm, although its worker handed nothing over', () => {
  expect(brokenBy({}, [givenUp, refused])).toEqual([])
})

it.each<[string, Partial<EmailRecord>, HandOver[]]>([
  ['no lease ran out', { rescues: 0 }, [givenUp, refused]],
  ['nobody sent it again', { inDoubt: false }, [givenUp, refused]],
  ['nobody came to the 354', {}, [refused]],
  ['every hand-over was answered', {}, [handOver({ reached: 'dot', begun: 1, answer: 451, answered: 2 }), refused]],
])('nothing is guessed: an uncertain email is a broken promise where %s', (_, said, seen) => {
  expect(brokenBy(said, seen)).toContainEqual(expect.stringContaining('was not on the wire at a death or a drop'))
})

it('held, an email is uncertain for a death or a drop and for nothing else', () => {
  const onUncertain = 'hold'
  const taken = handOver({ reached: 'dot', begun: 1, taken: true, messageId: '<one@storm.test>' })
  const held = { inDoubt: false, attempts: 1 }
  expect(brokenBy(held, [taken], { onUncertain, deaths: [{ door: 'worker 1', at: 2, most: 8 }] })).toEqual([])
  expect(brokenBy(held, [{ ...taken, fault: 'dot:taken-drop' }], { onUncertain })).toEqual([])
  expect(brokenBy(held, [givenUp], { onUncertain })).toHaveLength(1)
})

it('a copy too many, one that is lost and one that is only said to be sent are each named', () => {
  const taken = handOver({
    reached: 'dot',
    begun: 1,
    answer: 250,
    answered: 2,
    taken: true,
    messageId: '<one@storm.test>',
  })
  const again = { ...taken, begun: 3, answered: 4 }
  const sent = { state: 'done', inDoubt: false, rescues: 0, attempts: 1 } as const
  expect(brokenBy(sent, [taken])).toEqual([])
  expect(brokenBy(sent, [taken, again])).toEqual([expect.stringContaining('was handed over again')])
  expect(brokenBy(sent, [])).toEqual([expect.stringContaining('the judge did not take it')])
  expect(brokenBy({ ...sent, state: 'pending' }, [taken])).toEqual([expect.stringContaining('is lost')])
  expect(brokenBy({ ...sent, state: 'failed' }, [taken])).toEqual([expect.stringContaining('is marked failed')])
})
