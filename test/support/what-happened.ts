import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from '../../src/db/client.js'
import type { ActionState } from '../../src/domain/states.js'

/** Where the workers of worker-program.ts leave traces: rows for effects, lines in a file for hand-overs. */
export interface Traces {
  /** The file that is the outside world. */
  readonly outside: string
  remove(): void
}

export async function createTraces(db: Database): Promise<Traces> {
  await db.query('create table if not exists public.effects (action_id uuid not null)')
  await db.query('truncate public.effects')
  const directory = mkdtempSync(join(tmpdir(), 'postrider-outside-'))
  return { outside: join(directory, 'handed-over'), remove: () => rmSync(directory, { recursive: true, force: true }) }
}

/** The promise, as numbers. Whatever is named under `broken` must be empty. */
export interface WhatHappened {
  readonly states: Partial<Record<ActionState, number>>
  readonly leases: number
  readonly effects: number
  readonly handOvers: number
  /** Uncertain actions that were handed over, and that were not. */
  readonly uncertain: { readonly handedOver: number; readonly not: number }
  readonly broken: {
    readonly effectNotOnce: string[]
    readonly handedOverTwice: string[]
    readonly doneWithoutHandOver: string[]
    readonly handedOverButPending: string[]
    /** The token of an uncertain action is how a late answer finds it: it must be the one it was handed over under. */
    readonly uncertainUnderAnotherToken: string[]
    readonly unknownToUs: string[]
  }
}

interface Row {
  id: string
  type: string
  state: ActionState
  lease_token: string | null
  effects: number
}

export async function readWhatHappened(
  db: Database,
  outside: string,
  isEffect: (type: string) => boolean,
): Promise<WhatHappened> {
  const { rows } = await db.query<Row>(
    `select id, type, state, lease_token, coalesce(effects, 0) as effects from postrider.scheduled_actions
     left join (select action_id, count(*)::int as effects from public.effects group by 1) traces on action_id = id`,
  )
  const lines = readLines(outside)
  const [{ leases, effects }] = (
    await db.query<{ leases: number; effects: number }>(
      `select (select count(*)::int from postrider.leases) as leases,
         (select count(*)::int from public.effects) as effects`,
    )
  ).rows as [{ leases: number; effects: number }]
  const tokens = new Map<string, string[]>()
  for (const { action, token } of lines) tokens.set(action, [...(tokens.get(action) ?? []), token])
  const idsOf = (broken: (row: Row, handOvers: number) => boolean) =>
    rows.filter((row) => broken(row, tokens.get(row.id)?.length ?? 0)).map(({ id, state }) => `${id} ${state}`)
  const states: Partial<Record<ActionState, number>> = {}
  for (const { state } of rows) states[state] = (states[state] ?? 0) + 1
  const uncertain = rows.filter(({ state }) => state === 'uncertain')
  const known = new Set(rows.map(({ id }) => id))
  return {
    states,
    leases,
    effects,
    handOvers: lines.length,
    uncertain: {
      handedOver: uncertain.filter(({ id }) => tokens.has(id)).length,
      not: uncertain.filter(({ id }) => !tokens.has(id)).length,
    },
    broken: {
      effectNotOnce: idsOf((row) => row.effects !== (isEffect(row.type) && row.state === 'done' ? 1 : 0)),
      handedOverTwice: idsOf((row, handOvers) => handOvers > (isEffect(row.type) ? 0 : 1)),
      doneWithoutHandOver: idsOf((row, handOvers) => !isEffect(row.type) && row.state === 'done' && handOvers === 0),
      handedOverButPending: idsOf((row, handOvers) => row.state === 'pending' && handOvers > 0),
      uncertainUnderAnotherToken: uncertain
        .filter(({ id, lease_token }) => tokens.get(id)?.some((token) => token !== lease_token))
        .map(({ id }) => id),
      unknownToUs: lines.map(({ action }) => action).filter((action) => !known.has(action)),
    },
  }
}

export const NOTHING_BROKEN: WhatHappened['broken'] = {
  effectNotOnce: [],
  handedOverTwice: [],
  doneWithoutHandOver: [],
  handedOverButPending: [],
  uncertainUnderAnotherToken: [],
  unknownToUs: [],
}

/** Who handed what over under which token, in the order it happened. */
export function readLines(outside: string): { action: string; token: string; pid: number }[] {
  if (!existsSync(outside)) return []
  return readFileSync(outside, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => {
      const [action, token, pid] = line.split(' ') as [string, string, string]
      return { action, token, pid: Number(pid) }
    })
}

/**
 * Resolves when nothing is to be carried out or under way any more. A slow machine may take its time; but if for half a
 * minute nothing gets done, it says what is left and what it waits for.
 */
export async function untilAllIsOver(db: Database, patienceMs = 30_000): Promise<void> {
  let left = Number.POSITIVE_INFINITY
  let progressAt = performance.now()
  for (;;) {
    const now = await countUnfinished(db)
    if (now === 0) return
    if (now < left) progressAt = performance.now()
    left = Math.min(left, now)
    if (performance.now() - progressAt > patienceMs)
      throw new Error(`Nothing gets done any more. ${JSON.stringify(await describeUnfinished(db), null, 2)}`)
    await sleep(100)
  }
}

async function describeUnfinished(db: Database): Promise<unknown[]> {
  const { rows } = await db.query(
    `select state, count(*)::int as actions, max(rescues) as most_rescues, max(wake_at) - now() as longest_wait,
       count(*) filter (where wake_at <= now())::int as due_without_hint,
       count(*) filter (where exists (select 1 from postrider.ready_actions where id = any (action_ids)))::int as hinted,
       count(*) filter (where exists (select 1 from postrider.leases where token = lease_token))::int as under_lease,
       now() - max(state_at) as since_last_change
     from postrider.scheduled_actions where state in ('pending', 'leased', 'armed') group by state`,
  )
  return rows
}

/** How many actions are still to be carried out or under way. */
export async function countUnfinished(db: Database): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    `select count(*)::int as count from postrider.scheduled_actions where state in ('pending', 'leased', 'armed')`,
  )
  return rows[0]!.count
}
