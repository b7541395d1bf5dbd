import { pino } from 'pino'
import { afterAll, beforeAll, beforeEach } from 'vitest'
import { FIRST_LANE, claimActions } from '../../src/db/claim-actions.js'
import { claimDueActions, type DueClaim } from '../../src/db/claim-due-actions.js'
import type { Database } from '../../src/db/client.js'
import { hintActions } from '../../src/db/hint-actions.js'
import type { Claim } from '../../src/db/lease-taken.js'
import { promoteActions } from '../../src/db/promote-actions.js'
import { type ScheduleResult, scheduleActions } from '../../src/db/schedule-actions.js'
import type { LeasedAction, NewAction } from '../../src/domain/action.js'
import type { ActionState } from '../../src/domain/states.js'
import { DEFAULT_WORKSPACE, newId } from '../../src/id.js'
import { type DatabaseKind, openTestDatabase, type TestDatabase } from './test-database.js'

export const silent = pino({ level: 'silent' })

/** A row as it stands, all that the kernel's promises speak of. */
export interface Row {
  readonly id: string
  readonly lane_id: string
  readonly state: ActionState
  readonly run_at: Date
  readonly wake_at: Date | null
  readonly attempts: number
  readonly rescues: number
  readonly lease_token: string | null
  readonly in_doubt: boolean
  readonly needs_attention: boolean
  readonly reason: string | null
  readonly reason_code: string | null
}

export interface Held extends Claim {
  readonly token: string
  readonly ids: readonly string[]
}

export interface Kernel {
  readonly db: Database
  readonly location: TestDatabase['location']
  shiftClock(ms: number): Promise<void>
  /** Everything empty and the clock right, for the next round of a property. */
  clear(): Promise<void>
  schedule(actions: readonly NewAction[], workspaceId?: string): Promise<ScheduleResult>
  /** Schedules one and returns its id. */
  one(overrides?: Partial<NewAction>): Promise<string>
  /** `count` due actions, written set-based like a campaign's batch, in hints as large as they get. */
  fill(laneId: string, count: number): Promise<void>
  claim(request?: { limit?: number; leaseMs?: number; cursor?: string; worker?: string }): Promise<Held>
  /** Without the way over hints. */
  claimDue(request?: { limit?: number; leaseMs?: number; leadMs?: number }): Promise<Held & DueClaim>
  promote(): Promise<number>
  /** Claims until nothing is left and returns everything in the order it came. */
  claimAll(limit?: number): Promise<LeasedAction[]>
  row(id: string): Promise<Row>
  rows(): Promise<Row[]>
  count(table: string): Promise<number>
}

export const LEASE_MS = 60_000

export const newAction = (overrides: Partial<NewAction> = {}): NewAction => ({
  type: 'note',
  laneId: newId(),
  dedupeKey: newId(),
  ...overrides,
})

/** Opens a database for the tests of the surrounding `describe`, empty before each of them. */
export function openKernel(kind: DatabaseKind): Kernel {
  let opened: TestDatabase | undefined
  beforeAll(async () => {
    opened = await openTestDatabase(kind)
  })
  beforeEach(() => opened!.clear())
  afterAll(() => opened?.close())

  const kernel: Kernel = {
    get db() {
      return opened!.db
    },
    get location() {
      return opened!.location
    },
    shiftClock: (ms) => opened!.shiftClock(ms),
    clear: () => opened!.clear(),
    schedule: (actions, workspaceId = DEFAULT_WORKSPACE) => scheduleActions(kernel.db, workspaceId, actions),
    async one(overrides) {
      return (await kernel.schedule([newAction(overrides)])).actions[0]!.id
    },
    async fill(laneId, count) {
      await kernel.db.query(
        `with made as (
           insert into postrider.scheduled_actions (id, workspace_id, lane_id, type, dedupe_key, run_at)
           select gen_random_uuid(), $1, $2, 'note', gen_random_uuid(), ${kernel.db.now} from generate_series(1, $3::int)
           returning lane_id, run_at, id
         ) ${hintActions('select lane_id, run_at, id from made')}`,
        [DEFAULT_WORKSPACE, laneId, count],
      )
    },
    async claim({ limit = 100, leaseMs = LEASE_MS, cursor = FIRST_LANE, worker = 'worker' } = {}) {
      const token = newId()
      const claimed = await claimActions(kernel.db, { token, worker, limit, leaseMs, cursor })
      return { ...claimed, token, ids: claimed.actions.map(({ id }) => id) }
    },
    async claimDue({ limit = 100, leaseMs = LEASE_MS, leadMs = 0 } = {}) {
      const token = newId()
      const claimed = await claimDueActions(kernel.db, { token, worker: 'worker', limit, leaseMs, leadMs })
      return { ...claimed, token, ids: claimed.actions.map(({ id }) => id) }
    },
    promote: async () => (await promoteActions(kernel.db, 100_000)).promoted,
    async claimAll(limit = 100) {
      const all: LeasedAction[] = []
      for (let cursor = FIRST_LANE, looked = 1; looked > 0;) {
        const claimed = await kernel.claim({ limit, cursor })
        all.push(...claimed.actions)
        ;({ looked, cursor } = claimed)
      }
      return all
    },
    async row(id) {
      const { rows } = await kernel.db.query<Row>('select * from postrider.scheduled_actions where id = $1', [id])
      return rows[0]!
    },
    rows: async () => (await kernel.db.query<Row>('select * from postrider.scheduled_actions order by id')).rows,
    async count(table) {
      const { rows } = await kernel.db.query<{ count: number }>(`select count(*)::int as count from postrider.${table}`)
      return rows[0]!.count
    },
  }
  return kernel
}

/** Asks until the answer is yes. A deadline instead of a guess at how long it takes. */
export async function until(what: string, holds: () => boolean | Promise<boolean>, deadlineMs = 60_000): Promise<void> {
  const deadline = performance.now() + deadlineMs
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`Never happened: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}
