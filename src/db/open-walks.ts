import type { Json } from '../domain/action.js'
import type { EarlierEmail } from '../domain/follow-up.js'
import type { Sql } from './client.js'

/** An enrollment that is not over, with everything it has done and is about to do: for looking ahead. */
export interface OpenWalk {
  readonly id: string
  readonly contactId: string
  readonly senderId: string
  readonly paused: boolean
  readonly nodeId: string | null
  readonly arrived: boolean
  readonly visit: number
  readonly createdAt: Date
  /** Null when the contact was removed. */
  readonly address: string | null
  readonly name: string | null
  readonly timezone: string | null
  readonly attributes: { readonly [key: string]: Json }
  /** By its opt-outs and suppressions. */
  readonly mayBeMailed: boolean
  /** In the order of its steps. */
  readonly emails: readonly WalkEmail[]
  /** The wait or timeout of its last move. */
  readonly timer: WalkTimer | null
}

export interface WalkEmail extends EarlierEmail {
  readonly nodeId: string
  readonly delayMs: number
  readonly bookedOn: string | null
  readonly slotAt: Date | null
}

export interface WalkTimer {
  readonly type: 'wait' | 'timeout'
  readonly runAt: Date
  readonly delayMs: number
}

interface WalkAction extends Omit<WalkEmail, 'delayMs'> {
  readonly enrollmentId: string
  readonly type: 'send' | 'wait' | 'timeout'
  readonly payload: { readonly visit?: number; readonly delay?: number }
}

const FIRST = '00000000-0000-0000-0000-000000000000'

/** A page of those of a campaign, in the order of their ids. */
export async function readOpenWalks(
  sql: Sql,
  workspaceId: string,
  { campaignId, listId }: { readonly campaignId: string; readonly listId: string },
  { after = FIRST, limit }: { readonly after?: string | undefined; readonly limit: number },
): Promise<OpenWalk[]> {
  const { rows: walks } = await sql.query<Omit<OpenWalk, 'emails' | 'timer'>>(
    `select page.id, contact_id as "contactId", sender_id as "senderId", state = 'paused' as paused, node_id as "nodeId",
       arrived, visit, page.created_at as "createdAt", address, name, timezone, coalesce(attributes, '{}') as attributes,
       not exists (select 1 from postrider.opt_outs where list_id = $3 and opt_outs.address = folded_address)
         and not exists (select 1 from postrider.suppressions
           where workspace_id = $1 and suppressions.address = folded_address) as "mayBeMailed"
     from (
       select * from postrider.enrollments where workspace_id = $1 and campaign_id = $2 and finished_at is null and id > $4
       order by id limit $5
     ) page left join postrider.contacts on contacts.id = contact_id order by page.id`,
    [workspaceId, campaignId, listId, after, limit],
  )
  const actions = await readActions(
    sql,
    walks.map(({ id }) => id),
  )
  return walks.map((walk) => {
    const own = actions.get(walk.id) ?? []
    const sends = own.filter(({ type }) => type === 'send')
    const timer = own.findLast(({ type, payload }) => type !== 'send' && payload.visit === walk.visit)
    return {
      ...walk,
      emails: sends.map(({ payload, ...email }) => ({ ...email, delayMs: payload.delay ?? 0 })),
      timer: timer
        ? { type: timer.type as WalkTimer['type'], runAt: timer.runAt, delayMs: timer.payload.delay ?? 0 }
        : null,
    }
  })
}

async function readActions(sql: Sql, enrollmentIds: readonly string[]): Promise<Map<string, WalkAction[]>> {
  const found = new Map<string, WalkAction[]>()
  if (enrollmentIds.length === 0) return found
  const { rows } = await sql.query<WalkAction>(
    // Ids are made in the order of the steps. A wait that is over says nothing any more, an email that is out does.
    `select enrollment_id as "enrollmentId", type, node_id as "nodeId", state, state_at as "stateAt", run_at as "runAt",
       booked_on::text as "bookedOn", slot_at as "slotAt", payload, reason, reason_code as "reasonCode"
     from postrider.scheduled_actions
     where enrollment_id = any ($1::uuid[])
       and (type = 'send' or (type in ('wait', 'timeout') and state in ('pending', 'leased', 'armed')))
     order by id`,
    [enrollmentIds],
  )
  for (const action of rows) add(found, action.enrollmentId, action)
  return found
}

export interface HeardEvent {
  readonly type: string
  readonly at: Date
}

/** What was heard of these contacts, each since it was enrolled; by contact. */
export async function readEventsOf(
  sql: Sql,
  workspaceId: string,
  walks: readonly Pick<OpenWalk, 'contactId' | 'createdAt'>[],
): Promise<ReadonlyMap<string, readonly HeardEvent[]>> {
  const found = new Map<string, HeardEvent[]>()
  if (walks.length === 0) return found
  const { rows } = await sql.query<HeardEvent & { readonly contactId: string }>(
    `select events.contact_id as "contactId", type, at
     from unnest($2::uuid[], $3::timestamptz[]) as walk (contact_id, since)
       join postrider.events on events.contact_id = walk.contact_id
     where workspace_id = $1 and at >= since`,
    [workspaceId, walks.map(({ contactId }) => contactId), walks.map(({ createdAt }) => createdAt)],
  )
  for (const event of rows) add(found, event.contactId, event)
  return found
}

function add<Item>(groups: Map<string, Item[]>, key: string, item: Item): void {
  const group = groups.get(key)
  if (group) group.push(item)
  else groups.set(key, [item])
}
