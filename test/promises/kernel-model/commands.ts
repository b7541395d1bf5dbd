import fc from 'fast-check'
import { dismissAction, resolveAction, retryAction } from '../../../src/db/actions.js'
import { armActions } from '../../../src/db/arm-actions.js'
import { cancelActions } from '../../../src/db/cancel-actions.js'
import { completeAction } from '../../../src/db/complete-action.js'
import { cancelLane, pauseLane, resumeLane } from '../../../src/db/lanes.js'
import { renewLeases } from '../../../src/db/leases.js'
import { rescueActions } from '../../../src/db/rescue-actions.js'
import { settleActions } from '../../../src/db/settle-actions.js'
import type { LeasedAction, Outcome } from '../../../src/domain/action.js'
import { type Mover, TRANSITIONS } from '../../../src/domain/states.js'
import { PostriderError } from '../../../src/errors.js'
import { DEFAULT_WORKSPACE } from '../../../src/id.js'
import { type Kernel, newAction, type Row } from '../../support/kernel.js'
import * as model from './model.js'
import type { Decision, Memory, Model } from './model.js'
import { heldUnder, settledUnder } from '../../support/held-under.js'

/** The database under test, and its rows as they were after the last command. */
export interface Real {
  readonly kernel: Kernel
  readonly lanes: readonly string[]
  rows: Map<string, Row>
}

type Command = fc.AsyncCommand<Model, Real>

/** A step of a story: what it does to both, and by whom it may move states. */
function command(name: string, by: readonly Mover[], run: (model: Model, real: Real) => Promise<void>): Command {
  return {
    check: () => true,
    toString: () => name,
    async run(expected, real) {
      await run(expected, real)
      await compare(expected, real, by)
    },
  }
}

/** Every row is what the model says, and came there by a legal move of whoever acted. */
async function compare(expected: Model, real: Real, by: readonly Mover[]): Promise<void> {
  const rows = new Map((await real.kernel.rows()).map((row) => [row.id, row]))
  const told = [...expected.actions.values()].map(
    ({ id, state, attempts, rescues, inDoubt, token }) => `${id} ${state} ${attempts} ${rescues} ${inDoubt} ${token}`,
  )
  const found = [...rows.values()].map(
    ({ id, state, attempts, rescues, in_doubt, lease_token }) =>
      `${id} ${state} ${attempts} ${rescues} ${in_doubt} ${lease_token}`,
  )
  const wrong = found.toSorted().filter((line) => !told.includes(line))
  if (wrong.length > 0 || told.length !== found.length)
    throw new Error(
      `found:\n${wrong.join('\n')}\ninstead of:\n${told.filter((line) => !found.includes(line)).join('\n')}`,
    )
  for (const [id, { state }] of rows) {
    const before = real.rows.get(id)?.state ?? 'pending'
    const legal = TRANSITIONS.some(({ from, to, by: mover }) => from === before && to === state && by.includes(mover))
    if (before !== state && !legal) throw new Error(`${id} went from ${before} to ${state} by ${by.join(' or ')}`)
  }
  real.rows = rows
}

const same = (what: string, real: unknown, expected: unknown) => {
  if (real !== expected) throw new Error(`${what}: ${String(real)}, expected ${String(expected)}`)
}

const pick = <T>(list: readonly T[], index: number): T | undefined => list[index % Math.max(list.length, 1)]

const schedule = (key: string, lane: number, later: boolean, mortal: boolean) =>
  command(`schedule(${key}, ${lane}, ${later}, ${mortal})`, [], async (expected, { kernel, lanes }) => {
    const at = (ms: number) => new Date(Date.now() + expected.now + ms)
    const { actions } = await kernel.schedule([
      newAction({
        dedupeKey: key,
        laneId: lanes[lane]!,
        ...(later && { runAt: at(model.LATER) }),
        ...(mortal && { expiresAt: at(model.LIFE) }),
      }),
    ])
    const { id, duplicate } = actions[0]!
    same('duplicate', duplicate, expected.keys.has(key))
    if (duplicate) return same('id of the duplicate', id, expected.keys.get(key))
    expected.keys.set(key, id)
    expected.actions.set(id, {
      id,
      lane,
      expiresAt: mortal ? expected.now + model.LIFE : null,
      state: 'pending',
      attempts: 0,
      rescues: 0,
      token: null,
      inDoubt: false,
      dueAt: expected.now + (later ? model.LATER : 0),
      handedOver: 0,
    })
  })

export async function claimOnce(
  expected: Model,
  { kernel, rows }: Real,
  limit: number,
  /** Of a claim without the way over hints. */
  leadMs?: number,
): Promise<{ held: Memory; looked: number }> {
  const asked = { limit, leaseMs: model.LEASE }
  if (leadMs === undefined) await kernel.promote()
  const claimed = await (leadMs === undefined ? kernel.claim(asked) : kernel.claimDue({ ...asked, leadMs }))
  const { token, ids, actions, looked } = claimed
  if (actions.length > limit) throw new Error(`claimed ${actions.length} of ${limit}`)
  for (const row of await kernel.rows())
    if (row.state !== rows.get(row.id)?.state && row.state !== 'pending')
      model.claim(expected, row.id, row.state, token, leadMs ?? 0)
  if (ids.length > 0) expected.leases.set(token, { ids, expiresAt: expected.now + model.LEASE })
  return { held: ids.map((id) => ({ token, id })), looked }
}

const claim = (worker: number, limit: number) =>
  command(`claim(${worker}, ${limit})`, ['claim', 'expire', 'cancel'], async (expected, real) => {
    pick(expected.workers, worker)!.push(...(await claimOnce(expected, real, limit)).held)
  })

const claimDue = (worker: number, limit: number, leadMs: number) =>
  command(`claim due(${worker}, ${limit}, ${leadMs})`, ['claim', 'expire', 'cancel'], async (expected, real) => {
    pick(expected.workers, worker)!.push(...(await claimOnce(expected, real, limit, leadMs)).held)
  })

/** The short way to what is rare by chance: a lease runs out and somebody else takes what was under it. */
const takeOver = (worker: number) =>
  command(`take over(${worker})`, ['rescue', 'claim', 'expire', 'cancel'], async (expected, real) => {
    const step = Math.max(...model.STEPS)
    await real.kernel.shiftClock(step)
    expected.now += step
    await rescueActions(real.kernel.db, 1_000)
    model.rescue(expected)
    // Its own moves first, or a row that was rescued and claimed would look as if it had never moved.
    real.rows = new Map((await real.kernel.rows()).map((row) => [row.id, row]))
    pick(expected.workers, worker)!.push(...(await claimOnce(expected, real, 10)).held)
  })

const crash = (worker: number) =>
  command(`crash(${worker})`, [], async ({ workers, ghosts }) => {
    ghosts.push(...pick(workers, worker)!.splice(0))
  })

const pass = (step: number) =>
  command(`pass(${step / 60_000}m)`, [], async (expected, { kernel }) => {
    await kernel.shiftClock(step)
    expected.now += step
  })

const renew = (worker: number) =>
  command(`renew(${worker})`, [], async (expected, { kernel }) => {
    const tokens = [...new Set(pick(expected.workers, worker)!.map(({ token }) => token))]
    const renewed = await renewLeases(kernel.db, tokens, model.LEASE)
    for (const token of tokens) {
      const lease = expected.leases.get(token)
      same('renewed', renewed.has(token), lease !== undefined)
      if (lease) lease.expiresAt = expected.now + model.LEASE
    }
  })

type Held = Memory[number]
type Finder = (expected: Model) => Held | undefined

/** Somebody who holds something, or once did: a worker, or the ghost of one. What it took last comes first. */
const held =
  (who: number, which: number): Finder =>
  ({ workers, ghosts }) =>
    pick(pick([...workers, ghosts], who)!.toReversed(), which)

const arm = (find: Finder) =>
  command('arm', ['arm'], async (expected, { kernel }) => {
    const it = find(expected)
    if (!it || model.isNearlyDue(expected, it.id)) return
    const armed = await armActions(kernel.db, heldUnder(it.token, [it.id]))
    same('armed', armed.has(it.id), model.arm(expected, it.id, it.token))
  })

const complete = (find: Finder) =>
  command('complete', ['complete'], async (expected, { kernel }) => {
    const it = find(expected)
    if (!it || model.isNearlyDue(expected, it.id)) return
    const action = { id: it.id, leaseToken: it.token } as LeasedAction
    const completed = await kernel.db.transaction((tx) => completeAction(tx, action))
    same('completed', completed, model.complete(expected, it.id, it.token))
  })

const settle = (find: Finder, outcome: Outcome) =>
  command(`settle ${outcome.kind}`, ['settle', 'release', 'evidence'], async (expected, { kernel }) => {
    const it = find(expected)
    if (!it) return
    const settled = await settleActions(kernel.db, settledUnder(it.token, [{ id: it.id, outcome }]))
    same('settled', settled.has(it.id), model.settle(expected, it.id, it.token, outcome))
  })

/** Several steps about one action, one after the other: what is rare when every step is drawn by itself. */
const inTurn = (name: string, find: Finder, steps: (find: Finder, lane: number) => Command[]): Command => ({
  check: () => true,
  toString: () => name,
  async run(expected, real) {
    const it = find(expected)
    if (!it) return
    for (const step of steps(() => it, expected.actions.get(it.id)!.lane)) await step.run(expected, real)
  },
})

const armBehindAPause = (find: Finder) =>
  inTurn('arm behind a pause', find, (it, at) => [lane(at, 'pause'), arm(it), complete(it), lane(at, 'resume')])

const armWhatAnotherTook = (find: Finder, worker: number) =>
  inTurn('arm what another took', find, (it) => [
    settle(it, { kind: 'release' }),
    claim(worker, 10),
    arm(it),
    complete(it),
  ])

const answerLate = (find: Finder, outcome: Outcome) =>
  inTurn('answer late', find, (it) => [arm(it), pass(Math.max(...model.STEPS)), rescue(), settle(it, outcome)])

/** Uncertain, sent again, and in somebody's hands: what ends it now must not say that nothing was sent. */
const sendAgain = (find: Finder, worker: number, what: Outcome) =>
  inTurn('send again', find, (it) => [
    arm(it),
    settle(it, { kind: 'uncertain', reason }),
    decideAbout(it, 'resolve again'),
    claim(worker, 10),
    settle(newestOf(it), what),
    settle(it, { kind: 'done' }),
  ])

/** The latest holder of the same action. */
const newestOf =
  (find: Finder): Finder =>
  (expected) => {
    const id = find(expected)?.id
    return expected.workers.flat().findLast((memory) => memory.id === id)
  }

const rescue = () =>
  command('rescue', ['rescue'], async (expected, { kernel }) => {
    await rescueActions(kernel.db, 1_000)
    model.rescue(expected)
  })

const cancel = (which: number) =>
  command(`cancel(${which})`, ['cancel'], async (expected, { kernel }) => {
    const id = pick([...expected.actions.keys()], which)
    if (!id) return
    const canceled = await cancelActions(kernel.db, DEFAULT_WORKSPACE, { ids: [id] }, 'canceled')
    same('canceled', canceled.length === 1, model.cancel(expected, id))
  })

const decide = (which: number, decision: Decision) =>
  decideAbout(({ actions }) => {
    // Whom a person is shown first: what needs attention.
    const attention = [...actions.values()].filter(({ state }) => state === 'failed' || state === 'uncertain')
    return pick(attention, which) ?? pick([...actions.values()], which)
  }, decision)

const decideAbout = (find: (expected: Model) => { readonly id: string } | undefined, decision: Decision) =>
  command(`decide ${decision}`, ['person'], async (expected, { kernel: { db } }) => {
    const id = find(expected)?.id
    if (!id) return
    const run = {
      retry: () => retryAction(db, DEFAULT_WORKSPACE, id),
      dismiss: () => dismissAction(db, DEFAULT_WORKSPACE, id),
      'resolve done': () => resolveAction(db, DEFAULT_WORKSPACE, id, 'done'),
      'resolve again': () => resolveAction(db, DEFAULT_WORKSPACE, id, 'again'),
    }[decision]
    const decided = await run().then(
      () => true,
      (error: unknown) => {
        if (error instanceof PostriderError && error.code === 'action_conflict') return false
        throw error
      },
    )
    same('decided', decided, model.decide(expected, id, decision))
  })

const lane = (index: number, verb: 'pause' | 'resume' | 'cancel') =>
  command(`${verb} lane ${index}`, [], async (expected, { kernel, lanes }) => {
    const run = { pause: pauseLane, resume: resumeLane, cancel: cancelLane }[verb]
    await run(kernel.db, DEFAULT_WORKSPACE, lanes[index]!)
    if (verb === 'cancel') expected.lanes[index]!.canceled = true
    else expected.lanes[index]!.paused = verb === 'pause'
  })

const reason = { code: 'why', text: 'because' }
const outcomes: readonly Outcome[] = [
  { kind: 'done' },
  { kind: 'retry', waitMs: model.WAIT, reason },
  { kind: 'retry', waitMs: 0, reason, counts: false },
  { kind: 'failed', reason },
  { kind: 'skipped', reason },
  { kind: 'uncertain', reason },
  { kind: 'release' },
]

const small = fc.nat({ max: 11 })
const index = fc.nat({ max: model.LANES - 1 })
const key = fc.integer({ min: 0, max: 15 }).map((n) => `key-${n}`)
const limit = fc.integer({ min: 1, max: 10 })
const something = fc.tuple(small, small).map(([who, which]) => held(who, which))
const outcome = fc.constantFrom(...outcomes)
const decision = fc.constantFrom<Decision>('retry', 'dismiss', 'resolve done', 'resolve again')

export const steps: fc.Arbitrary<Command>[] = [
  fc.tuple(key, index).map(([k, l]) => schedule(k, l, false, false)),
  fc.tuple(key, index).map(([k, l]) => schedule(k, l, true, false)),
  fc.tuple(key, index).map(([k, l]) => schedule(k, l, false, true)),
  key.map((k) => schedule(k, 0, false, false)),
  fc.tuple(small, limit).map(([worker, most]) => claim(worker, most)),
  fc.tuple(small, limit).map(([worker, most]) => claim(worker, most)),
  fc.tuple(small, limit, fc.constantFrom(0, model.LEAD)).map(([worker, most, lead]) => claimDue(worker, most, lead)),
  small.map(takeOver),
  small.map(crash),
  fc.constantFrom(...model.STEPS).map(pass),
  small.map(renew),
  something.map(arm),
  something.map(complete),
  fc.tuple(something, outcome).map(([it, what]) => settle(it, what)),
  fc.tuple(something, outcome).map(([it, what]) => settle(it, what)),
  something.map(armBehindAPause),
  fc.tuple(something, small).map(([it, worker]) => armWhatAnotherTook(it, worker)),
  fc.tuple(something, outcome).map(([it, what]) => answerLate(it, what)),
  fc.tuple(something, small, outcome).map(([it, worker, what]) => sendAgain(it, worker, what)),
  fc.constant(rescue()),
  small.map(cancel),
  // Canceling is for good; drawn as often as the rest it would leave no lane to tell a story in.
  fc.tuple(index, fc.constantFrom('pause' as const, 'resume' as const)).map(([l, verb]) => lane(l, verb)),
  fc.tuple(index, fc.nat({ max: 7 })).map(([l, die]) => lane(l, die === 0 ? 'cancel' : 'resume')),
  fc.tuple(small, decision).map(([which, what]) => decide(which, what)),
]
