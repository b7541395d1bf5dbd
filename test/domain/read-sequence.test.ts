/* oxlint-disable unicorn/no-thenable -- the `then` of a branch is the name of a node: nothing can await it */
import { describe, expect, it } from 'vitest'
import { readSequence, type SequenceInput } from '../../src/domain/read-sequence.js'

const DAY = 86_400_000
const send = (id: string, more: object = {}) => ({ id, type: 'send', template: 'tpl', delay: { days: 1 }, ...more })
const problemsOf = (input: unknown) =>
  (readSequence(input).problems ?? []).map(({ path, detail }) => `${path.join('/')} ${detail}`)

describe('steps', () => {
  it('become nodes one after the other, which continue the thread of the first', () => {
    const steps = [
      { template: 'a' },
      { template: 'b', delayDays: 2, delayHours: 3, subject: 'Still there?' },
      { template: 'c', delayMinutes: 1, reply: false },
    ]
    const common = { type: 'send', subject: null }
    expect(readSequence({ steps })).toEqual({
      graph: {
        start: 'step-1',
        nodes: [
          { ...common, id: 'step-1', templateId: 'a', delayMs: 0, reply: false, next: 'step-2' },
          {
            ...common,
            id: 'step-2',
            templateId: 'b',
            subject: 'Still there?',
            delayMs: 2 * DAY + 3 * 3_600_000,
            reply: true,
            next: 'step-3',
          },
          { ...common, id: 'step-3', templateId: 'c', delayMs: 60_000, reply: false, next: null },
        ],
      },
    })
  })

  it('may begin with a delay, or with one of nothing', () => {
    expect(readSequence({ steps: [{ template: 'a', delayDays: 0 }] }).graph?.nodes).toMatchObject([{ delayMs: 0 }])
    expect(readSequence({ steps: [{ template: 'a', delayDays: 1 }] }).graph?.nodes).toMatchObject([{ delayMs: DAY }])
  })

  it.each([
    ['none', [], 'steps must be a list of 1 to 200 steps'],
    [
      'too many',
      Array.from({ length: 201 }, () => ({ template: 'a', delayDays: 1 })),
      'steps must be a list of 1 to 200',
    ],
    ['no template', [{}], 'steps/0/template is needed'],
    ['an empty template', [{ template: ' ' }], 'steps/0/template must be 1 to 200 characters'],
    ['a second one at once', [{ template: 'a' }, { template: 'b', delayDays: 0 }], 'steps/1/delayDays is needed'],
    ['a part of a day', [{ template: 'a', delayDays: 0.5 }], 'steps/0/delayDays must be a whole number of days'],
    ['back in time', [{ template: 'a', delayHours: -1 }], 'steps/0/delayHours must be a whole number of hours'],
    ['years', [{ template: 'a', delayDays: 365, delayMinutes: 1 }], 'steps/0/delayDays must be at most 365 days'],
    [
      'a wrong word',
      [{ template: 'a', delayDay: 1 }],
      'steps/0/delayDay is not a known field here (did you mean delayDays?)',
    ],
    ['a wrong answer', [{ template: 'a', reply: 'yes' }], 'steps/0/reply must be true or false'],
    ['a subject of two lines', [{ template: 'a', subject: 'a\nb' }], 'steps/0/subject must be 1 to 998 characters'],
    ['no object', ['a'], 'steps/0 must be an object'],
  ])('are refused: %s', (_, steps, problem) => {
    expect(problemsOf({ steps })).toEqual([expect.stringContaining(problem)])
  })
})

describe('a graph', () => {
  it('is read as it is written; what is absent is the end', () => {
    const input: SequenceInput = {
      nodes: [
        { id: 'hello', type: 'send', template: 'a', next: 'look' },
        { id: 'look', type: 'wait_for', event: 'opened', timeout: { days: 3 }, onEvent: 'pause', onTimeout: 'who' },
        { id: 'pause', type: 'wait', duration: { hours: 1, minutes: 30 }, next: 'more' },
        {
          id: 'who',
          type: 'branch',
          if: { attribute: 'plan', is: 'equals', value: 'pro' },
          then: 'more',
          else: 'enough',
        },
        { id: 'more', type: 'send', template: 'b', delay: { minutes: 5 }, subject: 'More' },
        { id: 'enough', type: 'stop' },
      ],
    }
    expect(readSequence(input).graph).toEqual({
      start: 'hello',
      nodes: [
        { id: 'hello', type: 'send', templateId: 'a', subject: null, delayMs: 0, reply: false, next: 'look' },
        { id: 'look', type: 'wait_for', event: 'opened', timeoutMs: 3 * DAY, onEvent: 'pause', onTimeout: 'who' },
        { id: 'pause', type: 'wait', durationMs: 5_400_000, next: 'more' },
        {
          id: 'who',
          type: 'branch',
          condition: { attribute: 'plan', is: 'equals', value: 'pro' },
          then: 'more',
          else: 'enough',
        },
        { id: 'more', type: 'send', templateId: 'b', subject: 'More', delayMs: 300_000, reply: true, next: null },
        { id: 'enough', type: 'stop' },
      ],
    })
  })

  it('starts where it says, and replies where an email can have come before', () => {
    const nodes = [send('b', { next: null }), send('a', { next: 'b' })]
    expect(readSequence({ start: 'a', nodes }).graph).toMatchObject({
      start: 'a',
      nodes: [
        { id: 'b', reply: true },
        { id: 'a', reply: false },
      ],
    })
  })

  it('may send at once on an event, and after a wait', () => {
    const at = (between: object) => [send('a', { next: 'x' }), { id: 'x', ...between }, send('b', { delay: undefined })]
    const waitFor = { type: 'wait_for', event: 'opened', timeout: { days: 1 }, onEvent: 'b', onTimeout: 'b' }
    expect(problemsOf({ nodes: at(waitFor) })).toEqual([])
    expect(problemsOf({ nodes: at({ type: 'wait', duration: { days: 1 }, next: 'b' }) })).toEqual([])
  })

  const branch = (more: object) => ({ id: 'x', type: 'branch', if: { event: 'opened' }, ...more })
  const waitFor = (more: object) => ({ id: 'x', type: 'wait_for', event: 'opened', timeout: { days: 1 }, ...more })
  const first = send('a', { next: 'x' })
  it.each<[string, unknown, string[]]>([
    ['neither form', {}, [' needs nodes, or steps']],
    ['both forms', { nodes: [send('a')], steps: [{ template: 'a' }] }, [' must have either nodes or steps, not both']],
    ['no object', 'a', [' must be an object']],
    ['a start of steps', { start: 'a', steps: [{ template: 'a' }] }, ['start only belongs beside nodes']],
    [
      'a start that is no node',
      { start: 'helo', nodes: [send('hello')] },
      ['start must be the id of one of the nodes (did you mean hello?)'],
    ],
    [
      'a field nobody knows',
      { node: [], nodes: [send('a')] },
      ['node is not a known field here (did you mean nodes?)'],
    ],
    ['no nodes', { nodes: [] }, ['nodes must be a list of 1 to 200 nodes']],
    ['too many', { nodes: Array.from({ length: 201 }, (_, i) => send(`n${i}`)) }, ['nodes must be a list of 1 to 200']],
    ['no email', { nodes: [{ id: 'a', type: 'stop' }] }, ['nodes need at least one of type send']],
    ['no type', { nodes: [send('a'), { id: 'b' }] }, ['nodes/1/type is needed: one of send, wait, wait_for']],
    [
      'a mistyped type',
      {
        nodes: [
          { ...first, next: null },
          { id: 'x', type: 'wait_fo' },
        ],
      },
      ['(did you mean wait_for?)'],
    ],
    [
      'a mistyped target',
      { nodes: [send('hello', { next: 'remindr' }), send('reminder')] },
      ['nodes/0/next names no node (did you mean reminder?)'],
    ],
    ['an id twice', { nodes: [send('a'), send('a')] }, ['nodes/1/id is the id of an earlier node as well']],
    ['an id with a colon', { nodes: [send('a:b')] }, ['nodes/0/id must be 1 to 64 lower-case']],
    ['an id that is the end', { nodes: [send('end')] }, ['nodes/0/id is what the end itself is called']],
    ['no id', { nodes: [send('a', { id: undefined })] }, ['nodes/0/id is needed']],
    ['a target that is no id', { nodes: [send('a', { next: 1 })] }, ['nodes/0/next must be the id of a node']],
    ['one nobody comes to', { nodes: [send('a'), send('b')] }, ['nodes/1 is never reached']],
    ['one that leads to itself', { nodes: [send('a', { next: 'a' })] }, ['nodes/0/next never ends: a → a.']],
    [
      'a circle',
      { nodes: [send('a', { next: 'b' }), send('b', { next: 'c' }), send('c', { next: 'b' })] },
      ['nodes/2/next never ends: b → c → b.'],
    ],
    [
      'a circle nobody comes to',
      { nodes: [send('a'), send('b', { next: 'b' })] },
      ['nodes/1/next never ends: b → b.', 'nodes/1 is never reached'],
    ],
    [
      'two circles',
      { nodes: [first, branch({ then: 'a', else: 'x' })] },
      ['nodes/1/then never ends: a → x → a.', 'nodes/1/else never ends: x → x.'],
    ],
    [
      'two emails at once',
      { nodes: [send('a', { next: 'b' }), send('b', { delay: undefined })] },
      ['nodes/1/delay is needed: another email'],
    ],
    [
      'two emails at once on one way of two',
      {
        nodes: [
          first,
          branch({ then: 'b', else: 'w' }),
          { id: 'w', type: 'wait', duration: { days: 1 }, next: 'b' },
          send('b', { delay: { days: 0 } }),
        ],
      },
      ['nodes/3/delay is needed: another email'],
    ],
    [
      'two emails at once on the longer way',
      {
        nodes: [
          branch({ then: 'b', else: 'a' }),
          send('a', { next: 'b' }),
          { id: 'b', type: 'branch', if: { event: 'opened' }, then: 'c' },
          send('c', { delay: undefined }),
        ],
      },
      ['nodes/3/delay is needed: another email'],
    ],
    [
      'a wait of nothing',
      { nodes: [first, { id: 'x', type: 'wait', duration: { days: 0 } }] },
      ['nodes/1/duration must be at least a minute'],
    ],
    ['a wait without end', { nodes: [first, { id: 'x', type: 'wait' }] }, ['nodes/1/duration is needed']],
    [
      'a wait of a part',
      { nodes: [first, { id: 'x', type: 'wait', duration: { hours: 1.5 } }] },
      ['nodes/1/duration/hours must be a whole number of hours'],
    ],
    [
      'a wait of a text',
      { nodes: [first, { id: 'x', type: 'wait', duration: '2d' }] },
      ['nodes/1/duration must be an object'],
    ],
    [
      'a timeout of nothing',
      { nodes: [first, waitFor({ timeout: {} })] },
      ['nodes/1/timeout must be at least a minute'],
    ],
    [
      'a timeout of years',
      { nodes: [first, waitFor({ timeout: { days: 366 } })] },
      ['nodes/1/timeout must be at most 365 days'],
    ],
    ['no event', { nodes: [first, waitFor({ event: undefined })] }, ['nodes/1/event must be the name of an event']],
    [
      'an event nobody can send',
      { nodes: [first, waitFor({ event: 'Signed up' })] },
      ['nodes/1/event must be the name of an event'],
    ],
    ...['replied', 'bounced', 'complained', 'unsubscribed'].map((event): [string, unknown, string[]] => [
      `waiting for ${event}`,
      { nodes: [first, waitFor({ event })] },
      [`nodes/1/event must not be ${event}`],
    ]),
  ])('is refused: %s', (_, input, problems) => {
    expect(problemsOf(input)).toEqual(problems.map((problem) => expect.stringContaining(problem)))
  })

  const nested = (depth: number): object => (depth === 1 ? { event: 'opened' } : { not: nested(depth - 1) })
  it.each<[string, unknown, string]>([
    ['none', undefined, 'nodes/1/if is needed'],
    ['nothing said', {}, 'nodes/1/if must say exactly one of all, any, not, event, attribute'],
    ['two things said', { event: 'opened', not: { event: 'opened' } }, 'nodes/1/if must say exactly one of'],
    ['all of nothing', { all: [] }, 'nodes/1/if/all must be a list of 1 to 50 conditions'],
    ['any of no list', { any: { event: 'opened' } }, 'nodes/1/if/any must be a list'],
    ['a part that is none', { any: [{ event: 'opened' }, 7] }, 'nodes/1/if/any/1 must be an object'],
    ['a wrong event', { event: 'Opened' }, 'nodes/1/if/event must be the name of an event'],
    ['a comparison of an event', { event: 'opened', is: 'equals' }, 'nodes/1/if/is only belongs beside attribute'],
    ['no comparison', { attribute: 'plan' }, 'nodes/1/if/is is needed: one of equals'],
    ['a mistyped comparison', { attribute: 'plan', is: 'equal', value: 1 }, '(did you mean equals?)'],
    ['an attribute without a name', { attribute: '', is: 'exists' }, 'nodes/1/if/attribute must be 1 to 500'],
    ['a value for exists', { attribute: 'plan', is: 'exists', value: 1 }, 'nodes/1/if/value must be left out'],
    ['no value', { attribute: 'plan', is: 'equals' }, 'nodes/1/if/value must be a text'],
    ['null', { attribute: 'plan', is: 'equals', value: null }, 'nodes/1/if/value must not be null'],
    ['an object as value', { attribute: 'plan', is: 'contains', value: {} }, 'nodes/1/if/value must be a text'],
    ['greater than true', { attribute: 'plan', is: 'greater', value: true }, 'nodes/1/if/value must be a number, or'],
    ['in no list', { attribute: 'plan', is: 'in', value: 'pro' }, 'nodes/1/if/value must be a list of 1 to 100'],
    ['a mistyped field', { atribute: 'plan', is: 'exists' }, 'did you mean attribute?'],
    ['nine levels', nested(9), `nodes/1/if${'/not'.repeat(8)} nests deeper than 8 levels`],
  ])('is refused with a condition like this: %s', (_, condition, problem) => {
    expect(problemsOf({ nodes: [first, branch({ if: condition })] })).toContainEqual(expect.stringContaining(problem))
  })

  it('takes a condition of eight levels', () => {
    expect(problemsOf({ nodes: [first, branch({ if: nested(8) })] })).toEqual([])
  })

  it('is told everything that is wrong at once', () => {
    const nodes = [
      send('a', { template: undefined, next: 'b' }),
      send('b', { delay: undefined, next: 'nowhere' }),
      waitFor({ event: 'replied', onEvent: 'x' }),
    ]
    expect(problemsOf({ start: 'a', nodes, name: 'x' }).map((problem) => problem.split(' ')[0])).toEqual([
      'name',
      'nodes/0/template',
      'nodes/2/event',
      'nodes/1/next',
      'nodes/2/onEvent',
      'nodes/1/delay',
    ])
  })
})
