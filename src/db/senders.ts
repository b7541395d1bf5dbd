import { isId } from '../id.js'
import type { Pace } from '../domain/pace.js'
import type { Sql } from './client.js'
import { holdLane, pauseLane, resumeLane } from './lanes.js'
import { storable } from './storable.js'

/** Who mail goes out as. The sender's id is also the id of the lane of its single emails. */
export interface Sender {
  readonly id: string
  readonly workspaceId: string
  readonly name: string | null
  readonly address: string
  readonly provider: 'smtp' | 'capture'
  /** Encrypted; null: whatever the settings say. */
  readonly credentials: string | null
  /** MAIL_FROM and SMTP_URL say who it is and how its mail goes out. */
  readonly followsSettings: boolean
  readonly isDefault: boolean
  readonly pausedAt: Date | null
  readonly pausedCode: string | null
  readonly pausedReason: string | null
  /** Null: at any time, as much as there is. */
  readonly pace: Pace | null
  /** The day on which ramp-up was first enabled, in the pace's timezone. */
  readonly rampUpFrom: string | null
  readonly createdAt: Date
  readonly updatedAt: Date
}

export interface SenderFields {
  readonly name: string | null
  readonly address: string
  readonly foldedAddress: string
  readonly provider: 'smtp' | 'capture'
  readonly credentials: string | null
  readonly isDefault: boolean
  readonly pace: Pace | null
  readonly rampUpFrom: string | null
}

const COLUMNS = `id, workspace_id as "workspaceId", name, address, provider, credentials,
  follows_settings as "followsSettings", is_default as "isDefault",
  paused_at as "pausedAt", paused_code as "pausedCode", paused_reason as "pausedReason", pace,
  ramp_up_from::text as "rampUpFrom", created_at as "createdAt",
  updated_at as "updatedAt"`

export async function listSenders(sql: Sql, workspaceId: string): Promise<Sender[]> {
  const { rows } = await sql.query<Sender>(
    `select ${COLUMNS} from postrider.senders where workspace_id = $1 order by id desc`,
    [workspaceId],
  )
  return rows
}

export async function findSender(sql: Sql, workspaceId: string, id: string): Promise<Sender | null> {
  if (!isId(id)) return null
  const { rows } = await sql.query<Sender>(
    `select ${COLUMNS} from postrider.senders where workspace_id = $1 and id = $2`,
    [workspaceId, id],
  )
  return rows[0] ?? null
}

/** Null when another sender of the workspace has the address. */
export async function insertSender(
  sql: Sql,
  workspaceId: string,
  id: string,
  fields: SenderFields,
): Promise<Sender | null> {
  if (fields.isDefault) await clearDefault(sql, workspaceId)
  const { rows } = await sql.query<Sender>(
    `insert into postrider.senders (id, workspace_id, name, address, folded_address, provider, credentials, is_default,
       pace, ramp_up_from, created_at, updated_at)
     values ($2, $1, $3, $4, $5, $6, $7, $8, $9, $10, ${sql.now}, ${sql.now})
     on conflict (workspace_id, folded_address) do nothing returning ${COLUMNS}`,
    [workspaceId, id, ...values(fields)],
  )
  return rows[0] ?? null
}

/** Null when there is no such sender. Throws the database's unique violation when the address is another's. */
export async function updateSender(
  sql: Sql,
  workspaceId: string,
  id: string,
  fields: SenderFields,
): Promise<Sender | null> {
  if (fields.isDefault) await clearDefault(sql, workspaceId)
  const { rows } = await sql.query<Sender>(
    `update postrider.senders set name = $3, address = $4, folded_address = $5, provider = $6, credentials = $7,
       is_default = $8, pace = $9, ramp_up_from = $10, updated_at = ${sql.now}
     where workspace_id = $1 and id = $2 returning ${COLUMNS}`,
    [workspaceId, id, ...values(fields)],
  )
  return rows[0] ?? null
}

const values = (fields: SenderFields) => [
  fields.name,
  fields.address,
  fields.foldedAddress,
  fields.provider,
  fields.credentials,
  fields.isDefault,
  fields.pace && JSON.stringify(fields.pace),
  fields.rampUpFrom,
]

const clearDefault = (sql: Sql, workspaceId: string) =>
  sql.query(`update postrider.senders set is_default = false where workspace_id = $1 and is_default`, [workspaceId])

/** False when there is none, and when a campaign goes out as it. */
export async function deleteSender(sql: Sql, workspaceId: string, id: string): Promise<boolean> {
  const { rowCount } = await sql.query(
    `delete from postrider.senders where workspace_id = $1 and id = $2
       and not exists (select 1 from postrider.campaigns where workspace_id = $1 and sender_id = $2)
       and not exists (select 1 from postrider.campaign_senders where sender_id = $2)`,
    [workspaceId, id],
  )
  return rowCount === 1
}

/** How the mail of all senders that follow the settings goes out. */
export async function setConfiguredProvider(sql: Sql, provider: 'smtp' | 'capture'): Promise<void> {
  await sql.query(
    `update postrider.senders set provider = $1, updated_at = ${sql.now} where follows_settings and provider <> $1`,
    [provider],
  )
}

/** The sender of the settings: made when there is none, and kept in step with MAIL_FROM. */
export async function upsertConfiguredSender(
  sql: Sql,
  workspaceId: string,
  id: string,
  { name, address, foldedAddress, provider }: Pick<SenderFields, 'name' | 'address' | 'foldedAddress' | 'provider'>,
): Promise<void> {
  await sql.query(
    `insert into postrider.senders (id, workspace_id, name, address, folded_address, provider, follows_settings, is_default)
     select $2, $1, $3, $4, $5, $6, true, not exists (
       select 1 from postrider.senders where workspace_id = $1 and is_default and id <> $2)
     on conflict (id) do update set name = excluded.name, address = excluded.address,
       folded_address = excluded.folded_address, updated_at = ${sql.now}
     where (senders.name, senders.address) is distinct from (excluded.name, excluded.address)`,
    [workspaceId, id, name, address, foldedAddress, provider],
  )
}

/** Pauses the sender and its lane: what it would send waits instead of failing one by one. */
export async function pauseSender(
  sql: Sql,
  workspaceId: string,
  id: string,
  why: { code: string; reason: string },
): Promise<Sender | null> {
  const { rows } = await sql.query<Sender>(
    `update postrider.senders set paused_at = coalesce(paused_at, ${sql.now}),
       paused_code = coalesce(paused_code, $3), paused_reason = coalesce(paused_reason, $4),
       updated_at = case when paused_at is null then ${sql.now} else updated_at end
     where workspace_id = $1 and id = $2 returning ${COLUMNS}`,
    [workspaceId, id, why.code, storable(why.reason)],
  )
  if (rows[0]) await pauseLane(sql, workspaceId, id)
  return rows[0] ?? null
}

export async function resumeSender(sql: Sql, workspaceId: string, id: string): Promise<Sender | null> {
  const { rows } = await sql.query<Sender>(
    `update postrider.senders set paused_at = null, paused_code = null, paused_reason = null, throttles = 0,
       updated_at = case when paused_at is null then updated_at else ${sql.now} end
     where workspace_id = $1 and id = $2 returning ${COLUMNS}`,
    [workspaceId, id],
  )
  if (rows[0]) await resumeLane(sql, workspaceId, id)
  return rows[0] ?? null
}

const FIRST_HOLD_MS = 15_000
const LONGEST_HOLD_MS = 900_000
/** A server that asks for a day gets an hour, and then asks again. */
const LONGEST_ASKED_MS = 3_600_000

/**
 * A server asked this sender to slow down: its lane is held back, for as long as the server said or twice as long as
 * the last time. Many emails are told so at the same moment; they count as one.
 */
export async function slowSender(
  sql: Sql,
  workspaceId: string,
  id: string,
  askedMs: number | undefined,
): Promise<number> {
  const { rows } = await sql.query<{ throttles: number }>(
    `update postrider.senders set throttles = throttles + case when exists (
         select 1 from postrider.lanes where lanes.id = senders.id and held_until > ${sql.now}) then 0 else 1 end
     where workspace_id = $1 and id = $2 returning throttles`,
    [workspaceId, id],
  )
  const throttles = rows[0]?.throttles ?? 1
  const ownMs = Math.min(FIRST_HOLD_MS * 2 ** Math.min(throttles - 1, 10), LONGEST_HOLD_MS)
  const holdMs = Math.min(askedMs ?? ownMs, LONGEST_ASKED_MS)
  await holdLane(sql, workspaceId, id, holdMs)
  return holdMs
}

/** It goes through again. */
export async function unslowSender(sql: Sql, workspaceId: string, id: string): Promise<void> {
  await sql.query(`update postrider.senders set throttles = 0 where workspace_id = $1 and id = $2 and throttles > 0`, [
    workspaceId,
    id,
  ])
}
