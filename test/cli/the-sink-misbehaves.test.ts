import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect as connectTls } from 'node:tls'
import { describe, expect, test } from 'vitest'
import { createDice, faultOf, type Moment, parseChaos, PHASES, type Phase } from '../../src/cli/sink/chaos.js'
import { until } from '../support/until.js'
import {
  closeAfterEach,
  deliver,
  ENVELOPE,
  greetedClient,
  makeDirectory,
  openClient,
  RawClient,
  readLog,
  start,
} from './sink-fixture.js'

closeAfterEach()

describe('chaos', () => {
  /** What a client meets in the phase: a code, how the connection ended, or how it did not. */
  async function observe(phase: Phase, fault: string, tls: 'starttls' | 'implicit' = 'starttls'): Promise<string> {
    const sink = await start({ chaos: `${phase}:${fault}`, tls, auth: { user: 'me', pass: 'secret' } })
    // Where it is not the subject, AUTH would only be in the way.
    const plain = phase === 'auth' ? sink : await start({ chaos: `${phase}:${fault}`, tls })
    const client = new RawClient(
      tls === 'implicit'
        ? connectTls({ port: plain.port, host: '127.0.0.1', rejectUnauthorized: false })
        : connect(plain.port, '127.0.0.1'),
    )
    await client.talkUntil(phase)
    await until('the fault', () => plain.counts().faults === 1)
    if (fault.endsWith('hang')) {
      await sleep(30)
      return client.received === '' && client.ended === null ? 'hangs' : 'does not hang'
    }
    if (fault === 'slow') {
      if (phase === 'body') client.send('\r\n.\r\n')
      const code = await client.code()
      return client.pieces > 5 ? `drips ${code}` : code
    }
    const reply = await client.reply()
    if (reply === 'fin' || reply === 'reset') return reply
    if (!/^\d{3} /.test(reply)) return 'garbage'
    const code = /^\d{3} \d\.\d\.\d+/.exec(reply)![0]
    return fault === '421' ? `${code}, ${await client.reply()}` : code
  }

  const NORMAL: Record<Phase, string> = {
    connect: '220',
    greeting: 'drips 220',
    ehlo: 'drips 250',
    starttls: 'drips 220',
    auth: 'drips 235',
    mail: 'drips 250',
    rcpt: 'drips 250',
    data: 'drips 354',
    body: '250',
    dot: 'drips 250',
  }

  test.each(PHASES)('in the phase %s, every fault is what the client meets', async (phase) => {
    expect({
      451: await observe(phase, '451'),
      421: await observe(phase, '421'),
      drop: await observe(phase, 'drop'),
      reset: await observe(phase, 'reset'),
      hang: await observe(phase, 'hang'),
      garbage: await observe(phase, 'garbage'),
      slow: await observe(phase, 'slow'),
    }).toEqual({
      451: '451 4.3.0',
      421: '421 4.3.2, fin',
      drop: 'fin',
      reset: 'reset',
      hang: 'hangs',
      garbage: 'garbage',
      slow: NORMAL[phase],
    })
  })

  test('under TLS a drop is a drop and a reset a reset', async () => {
    expect(await observe('rcpt', 'drop', 'implicit')).toBe('fin')
    expect(await observe('rcpt', 'reset', 'implicit')).toBe('reset')
  })

  test('550 says of a recipient that there is none, and of a message that it is not wanted', async () => {
    expect([await observe('rcpt', '550'), await observe('dot', '550')]).toEqual(['550 5.1.1', '550 5.7.1'])
    expect([await observe('auth', '535'), await observe('mail', '499')]).toEqual(['535 5.7.8', '499 4.0.0'])
  })

  test.each([
    ['taken-drop', 'fin', 'dropped_after_dot'],
    ['taken-reset', 'reset', 'reset_after_dot'],
    ['taken-hang', 'hangs', 'hung_after_dot'],
    ['taken-garbage', 'garbage', 'garbage_after_dot'],
    ['slow', 'drips 250', 'accepted'],
    ['lost-drop', 'fin', null],
    ['drop', 'fin', null],
    ['reset', 'reset', null],
    ['hang', 'hangs', null],
    ['garbage', 'garbage', null],
    ['421', '421 4.3.2, fin', null],
    ['550', '550 5.7.1', null],
  ])('after the dot, %s: the client meets %s, the log says %s', async (fault, met, replied) => {
    expect(await observe('dot', fault)).toBe(met)
    const logFile = join(makeDirectory(), 'log')
    const client = await openClient(await start({ logFile, chaos: `dot:${fault}` }))
    await client.talkUntil('dot')
    if (met === 'hangs') await until('it is taken or lost', () => sleep(30, true))
    else await client.reply()
    expect(readLog(logFile)).toMatchObject(replied ? [{ message_id: '<1@example.com>', replied }] : [])
  })

  test('a body refused half way is read to its end, and answered once', async () => {
    const sink = await start({ chaos: 'body:452' })
    const client = await greetedClient(sink)
    client.send(`${ENVELOPE}half`)
    expect([await client.code(), await client.code(), await client.code(), await client.code()].join(' ')).toBe(
      '250 250 354 452',
    )
    client.send(' and half\r\n.\r\nNOOP\r\n')
    expect(await client.reply()).toBe('250 2.0.0 OK')
    expect(sink.taken()).toEqual([])
  })

  test('what was pipelined behind a slow reply waits for it and is obeyed', async () => {
    const sink = await start({ chaos: 'mail:slow,data:slow' })
    const client = await greetedClient(sink)
    client.send(`${ENVELOPE}x\r\n.\r\nQUIT\r\n`)
    for (const code of ['250', '250', '354', '250', '221']) expect(await client.code()).toBe(code)
    expect(sink.taken()).toHaveLength(1)
  })

  test('the same seed gives every connection the same faults, however they interleave', async () => {
    const run = async (seed: number, together: boolean) => {
      const sink = await start({ seed, chaos: 'rcpt:450:0.3,dot:550:0.2,dot:451:0.2' })
      const outcomes = async (client: RawClient) => {
        const codes: string[] = []
        for (let n = 0; n < 20; n++) {
          codes.push(await deliver(client))
          await client.ask('RSET')
        }
        return codes
      }
      const clients: RawClient[] = []
      for (let n = 0; n < 4; n++) clients.push(await greetedClient(sink))
      if (together) return Promise.all(clients.map(outcomes))
      const all: string[][] = []
      for (const client of clients.toReversed()) all.unshift(await outcomes(client))
      return all
    }
    const first = await run(7, true)
    expect(await run(7, false)).toEqual(first)
    expect(await run(8, true)).not.toEqual(first)
    expect(new Set(first.map((codes) => codes.join())).size).toBe(4)
    expect(new Set(first.flat())).toEqual(
      new Set(['250 250 354 250', '250 250 354 550', '250 250 354 451', '250 450 554']),
    )
  })

  test('a probability is met over many connections', () => {
    const rules = parseChaos('mail:451:0.05, rcpt:drop:0 , dot:lost-drop')
    for (const seed of [1, 2, 3]) {
      const hits = { mail: 0, rcpt: 0, dot: 0 }
      for (let connection = 1; connection <= 20_000; connection++) {
        const dice = createDice(rules, seed, connection)
        for (const phase of ['mail', 'rcpt', 'dot'] as const) if (dice(phase)) hits[phase]++
      }
      expect(hits).toMatchObject({ rcpt: 0, dot: 20_000 })
      // Four standard deviations, and the seeds are fixed.
      expect(Math.abs(hits.mail - 1000)).toBeLessThan(125)
    }
  })

  test.each([
    ['rcp:450', '"rcp" is no phase. Did you mean "rcpt"?'],
    ['nowhere:450', 'There are connect, greeting, ehlo,'],
    ['dot:taken-dorp', 'Did you mean "taken-drop"?'],
    ['mail:rest', 'Did you mean "reset"?'],
    ['mail:explode', 'There are drop, reset, hang, garbage, slow, a reply code such as 451.'],
    ['mail:constructor', '"constructor" is no fault.'],
    ['mail:taken-drop', '"taken-drop" exists only after the dot, as dot:taken-drop.'],
    ['mail', 'it needs a fault, as in mail:451'],
    ['mail:250', 'from 400 to 599, not 250'],
    ['mail:451:2', '"2" is no probability; it is a number from 0 to 1.'],
    ['mail:451:', '"" is no probability'],
    ['mail:451:often', '"often" is no probability'],
    ['mail:451:0.1:0.2', 'more than phase:fault:probability'],
    ['mail:451,rcpt:slwo', '"rcpt:slwo" is no chaos rule'],
  ])('%s is refused with a sentence', (text, said) => {
    expect(() => parseChaos(text)).toThrow(said)
  })
})

test('it has a temper for some senders and recipients only, with words of its own', async () => {
  const moments: Moment[] = []
  const sink = await start({
    temper(moment) {
      moments.push(moment)
      if (moment.phase === 'rcpt' && moment.to === 'grey@example.com')
        return faultOf('rcpt:451', '4.7.1 Greylisted, try again later')
      return moment.phase === 'dot' && moment.from === 'lost@example.com' ? faultOf('dot:taken-drop') : null
    },
  })
  const client = await greetedClient(sink)
  await client.ask('MAIL FROM:<a@example.com>')
  expect(await client.ask('RCPT TO:<grey@example.com>')).toBe('451 4.7.1 Greylisted, try again later')
  expect(await client.ask('RCPT TO:<b@example.com>')).toBe('250 2.1.5 OK')
  await client.ask('RSET')
  expect(await deliver(client)).toBe('250 250 354 250')

  await client.ask('MAIL FROM:<lost@example.com>')
  await client.ask('RCPT TO:<b@example.com>')
  await client.ask('DATA')
  expect(await client.ask('Message-ID: <2@x>\r\n\r\nhello\r\n.')).toBe('fin')
  expect(sink.taken().map(({ from, replied }) => [from, replied])).toEqual([
    ['a@example.com', 'accepted'],
    ['lost@example.com', 'dropped_after_dot'],
  ])
  expect(moments.filter(({ phase }) => phase === 'dot')).toEqual([
    { phase: 'dot', from: 'a@example.com', to: 'b@example.com' },
    { phase: 'dot', from: 'lost@example.com', to: 'b@example.com' },
  ])
})
