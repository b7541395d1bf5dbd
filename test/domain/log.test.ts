import { Writable } from 'node:stream'
import { expect, it } from 'vitest'
import { createLog } from '../../src/log.js'

it('of an error logs what happened, and nothing that a database quotes', () => {
  const lines: string[] = []
  const stream = new Writable({ write: (chunk, _, done) => (lines.push(String(chunk)), done()) })
  const error = Object.assign(new Error('duplicate key value', { cause: new Error('inner') }), {
    code: '23505',
    constraint: 'scheduled_actions_dedupe',
    detail: 'Key (dedupe_key)=(email:ada@example.com) already exists.',
    where: 'ada@example.com',
  })
  createLog('info', stream as unknown as NodeJS.WriteStream).error({ err: error }, 'refused')
  expect(JSON.parse(lines[0]!)).toMatchObject({
    msg: 'refused',
    err: {
      message: 'duplicate key value',
      code: '23505',
      constraint: 'scheduled_actions_dedupe',
      cause: { message: 'inner' },
    },
  })
  expect(lines.join('')).not.toContain('ada@')
})
