import { describe, expect, it } from 'vitest'
import { sayProblem, sayProblems } from '../../src/domain/say-problem.js'

describe('a problem', () => {
  it.each<[readonly (string | number)[], string, string]>([
    [['subject'], 'must be one line', 'subject must be one line'],
    [['to'], 'is needed', 'to is needed'],
    [['sender_id'], 'there is no such sender', 'sender_id: there is no such sender'],
    [[], 'may hold at most 100 emails', 'the body may hold at most 100 emails'],
    [[], 'must be a list', 'the body must be a list'],
    [[2, 'subject'], 'must be one line', 'body[2].subject must be one line'],
    [['attachments', 0, 'content'], 'must be base64', 'attachments[0].content must be base64'],
    [['to', 1], 'needs at least one address', 'to[1] needs at least one address'],
  ])('at %j, "%s", is said', (path, detail, said) => {
    expect(sayProblem({ path, detail })).toBe(said)
  })

  it('is one of a few: nobody reads a hundred', () => {
    const problems = Array.from({ length: 7 }, (_, index) => ({ path: [index, 'to'], detail: 'is needed' }))
    expect(sayProblems(problems, 'emails')).toMatch(/^emails\[0\]\.to is needed; .*; and 2 more$/)
  })
})
