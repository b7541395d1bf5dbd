import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from '../../src/db/client.js'
import type { ActionState } from '../../src/domain/states.js'

/** Watches what dead workers left behind until it is brought back, and for work that nobody would ever bring back. */
export interface RescueWatch {
  /** Call right after the death of a worker, with the moment it was killed; resolves with what it was holding. */
  noteDeath(pid: number, killedAt: number): Promise<{ leased: number; armed: number }>
  /** What is held at the moment, and by which process. */
  findHeld(): Promise<readonly HeldAction[]>
  /** How long after its worker's death an action was last seen leased, the longest of all. */
  readonly longestMs: number
  /** Actions seen leased or armed without a lease: no sweep would ever find them. */
  readonly orphans: readonly string[]
  stop(): Promise<void>
}

export interface HeldAction {
  readonly pid: number
  readonly action: string
  readonly state: ActionState
}

// A worker's name is host:pid:random.
const PID = `split_part(worker, ':', 2)::int`

const HELD = `
  select ${PID} as pid, count(*) filter (where state = 'leased')::int as leased,
    count(*) filter (where state = 'armed')::int as armed
  from postrider.leases join postrider.scheduled_actions action on lease_token = token and action.id = any (action_ids)
  where ${PID} = any ($1::int[]) group by 1`

// One statement, one snapshot: a claim writes action and lease together, and a lease goes only after its actions.
const ORPHANS = `
  select id from postrider.scheduled_actions where state in ('leased', 'armed')
    and not exists (select 1 from postrider.leases where token = lease_token)`

export function watchRescues(db: Database, everyMs = 200): RescueWatch {
  const deaths = new Map<number, number>()
  const orphans: string[] = []
  let longestMs = 0
  let stopping = false

  const look = async () => {
    const asked = performance.now()
    const held = await db.query<{ pid: number; leased: number }>(HELD, [[...deaths.keys()]])
    for (const { pid, leased } of held.rows)
      if (leased > 0) longestMs = Math.max(longestMs, asked - (deaths.get(pid) ?? asked))
    const { rows } = await db.query<{ id: string }>(ORPHANS)
    orphans.push(...rows.map(({ id }) => id))
  }
  const watching = (async () => {
    while (!stopping) {
      await look()
      await sleep(everyMs)
    }
  })()

  return {
    orphans,
    get longestMs() {
      return longestMs
    },
    async findHeld() {
      const { rows } = await db.query<HeldAction>(
        `select ${PID} as pid, action.id as action, state from postrider.leases
           join postrider.scheduled_actions action on lease_token = token and action.id = any (action_ids)`,
      )
      return rows
    },
    async noteDeath(pid, killedAt) {
      deaths.set(pid, killedAt)
      const { rows } = await db.query<{ leased: number; armed: number }>(HELD, [[pid]])
      return rows[0] ?? { leased: 0, armed: 0 }
    },
    async stop() {
      stopping = true
      await watching
    },
  }
}
