import type { EmailStatus } from '../domain/email-status.js'
import type { Sql } from './client.js'
import { DUE_HINTS } from './due-hints.js'
import { type Bind, campaignConditions, eitherConditions, singleConditions } from './email-conditions.js'
import type { EmailFilter } from './email-filter.js'

/**
 * Where emails are looked for. What is not over, what waits for a person and what ended unsent are each in an index of
 * their own, in the order emails are listed in; the rest is found by walking through all of them from the newest on.
 */
export interface Source {
  /** Yields `id` of the candidates that match, each once, without order or limit. */
  readonly matching: string
  /** Yields the last candidate if there were as many as are looked at; null for a source that is read whole. */
  readonly end: string | null
  /** No other source yields the same emails. */
  readonly alone?: true
}

export interface SourceOptions {
  /** Adds a value to the statement and returns its name there. $1 is the workspace. */
  readonly bind: Bind
  /** Such as `< $2::uuid`, of the email's id. */
  readonly bounds: readonly string[]
  readonly order: 'asc' | 'desc'
  readonly lookedAt: number
}

/** Up to so many that are due are found by their hints; with more, the newest emails are mostly due, and walked through. */
export const FEW_DUE = 20_000

export const SETS = {
  waiting: `wake_at is not null and message_id is not null`,
  retrying: `retrying and message_id is not null`,
  attention: `needs_attention`,
  unsent: `ended_unsent and message_id is not null`,
} as const
export type SetName = keyof typeof SETS

const SET_OF: Partial<Record<EmailStatus, SetName>> = {
  scheduled: 'waiting',
  retry_scheduled: 'retrying',
  uncertain: 'attention',
  failed: 'attention',
  expired: 'unsent',
  suppressed: 'unsent',
  canceled: 'unsent',
  dismissed: 'unsent',
}

export async function chooseSources(sql: Sql, filter: EmailFilter, options: SourceOptions): Promise<Source[]> {
  const { status } = filter
  const statuses = status === undefined ? [] : typeof status === 'string' ? [status] : status
  if (filter.to !== undefined) return toAddress(filter, options)
  if (statuses.length === 0 || statuses.includes('sent')) return walks(filter, options)
  const names = new Set(statuses.flatMap((wanted) => SET_OF[wanted] ?? []))
  // What is tried again waits, too.
  if (names.has('waiting')) names.delete('retrying')
  const sets = [...names].map((name) => inSet(name, filter, options))
  if (statuses.includes('sending')) sets.push(held(filter, options))
  if (!statuses.includes('scheduled') && !statuses.includes('retry_scheduled')) return sets
  return [...sets, ...((await countHinted(sql)) > FEW_DUE ? walks(filter, options) : [due(filter, options)])]
}

export async function countHinted(sql: Sql): Promise<number> {
  const { rows } = await sql.query<{ count: number }>(
    `select coalesce(sum(cardinality(action_ids)), 0)::int as count from ${DUE_HINTS} hint`,
  )
  return rows[0]!.count
}

const bounded = (id: string, bounds: readonly string[]) => bounds.map((bound) => `${id} ${bound}`)
const where = (conditions: readonly string[]) => (conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`)

interface Walk {
  readonly table: string
  readonly alias: string
  readonly id: string
  /** That are asked about: without any, the index alone is read. */
  readonly columns: readonly string[]
  readonly conditions: readonly string[]
  /** Several rows may be of one email. */
  readonly repeats?: true
}

/** Looks at so many candidates in the order of an index, and filters those. */
function walk(
  { table, alias, id, columns, conditions, repeats }: Walk,
  filters: readonly string[],
  options: SourceOptions,
): Source {
  const { bounds, order, lookedAt } = options
  const candidates = `from ${table} ${where([...conditions, ...bounded(id, bounds)])} order by ${id} ${order}`
  return {
    matching: `select ${repeats ? 'distinct id' : 'id'} from (select ${[`${id} as id`, ...columns].join(', ')} ${candidates} limit ${lookedAt}) ${alias} ${where(filters)}`,
    end: `select ${id} ${candidates} offset ${lookedAt - 1} limit 1`,
  }
}

const ACTIONS = 'postrider.scheduled_actions'
const ofCampaign = ({ campaignId }: EmailFilter, bind: Bind) =>
  campaignId === undefined ? [] : [`lane_id = ${bind(campaignId)}::uuid`]

/** What its conditions ask about. */
const campaignColumns = (filter: EmailFilter): string[] => [
  ...(filter.status === undefined && filter.reasonCode === undefined ? [] : ['state', 'reason_code']),
  ...(filter.senderId === undefined && filter.q === undefined
    ? []
    : ['lane_id', 'enrollment_id', 'node_id', 'payload']),
]

/** All emails, single ones and those of campaigns. */
export function walks(filter: EmailFilter, options: SourceOptions): Source[] {
  const { bind } = options
  const single: Walk = {
    table: 'postrider.messages',
    alias: 'message',
    id: 'id',
    columns: [
      ...(filter.senderId === undefined ? [] : ['sender_id']),
      ...(filter.q === undefined ? [] : ['subject', 'recipients']),
    ],
    conditions: ['workspace_id = $1'],
  }
  const campaign: Walk = {
    table: ACTIONS,
    alias: 'action',
    id: 'id',
    columns: campaignColumns(filter),
    conditions: ['workspace_id = $1 and contact_id is not null', ...ofCampaign(filter, bind)],
  }
  return [
    ...(filter.campaignId === undefined
      ? [{ ...walk(single, singleConditions(filter, bind), options), alone: true as const }]
      : []),
    { ...walk(campaign, campaignConditions(filter, bind), options), alone: true },
  ]
}

/** One of the sets that have an index of their own, in its order. */
export const inSet = (name: SetName, filter: EmailFilter, options: SourceOptions): Source =>
  filter.campaignId === undefined ? ofAll(name, filter, options) : inLane(name, filter, options)

/**
 * The index alone is read for the candidates; told of any other column, the planner rather reads the whole set and sorts
 * it.
 */
const ofAll = (name: SetName, filter: EmailFilter, options: SourceOptions): Source =>
  walk(
    {
      table: ACTIONS,
      alias: 'candidate',
      id: 'message_id',
      columns: [],
      conditions: [`workspace_id = $1 and ${SETS[name]}`],
      repeats: true,
    },
    ['candidate.id is not null', ...eitherConditions(filter, 'candidate.id', options.bind)],
    options,
  )

/** Emails of a campaign are their own deliveries, and each set has an index by lane: nobody else's are passed over. */
const inLane = (name: SetName, filter: EmailFilter, options: SourceOptions): Source => {
  const { bind } = options
  return walk(
    {
      table: ACTIONS,
      alias: 'action',
      id: 'message_id',
      columns: campaignColumns(filter),
      // The workspace is asked of the campaign: of the emails there is an index by workspace, in the same order and with
      // those of all campaigns in it, which the planner would walk through.
      conditions: [
        `lane_id = (select id from postrider.campaigns where id = ${bind(filter.campaignId)}::uuid and workspace_id = $1)`,
        `${SETS[name]} and message_id is not null and contact_id is not null`,
      ],
    },
    campaignConditions(filter, bind),
    options,
  )
}

/**
 * Of actions that are few and named one by one. `offset 0` keeps the planner from walking through all emails in the order
 * of their ids instead, in the hope of coming by.
 */
function named(ids: string, states: string, filter: EmailFilter, { bind, bounds }: SourceOptions): Source {
  const conditions = [
    `id = any (array(${ids})) and workspace_id = $1 and message_id is not null and state in (${states})`,
    ...ofCampaign(filter, bind),
    ...bounded('message_id', bounds),
  ]
  return {
    matching: `select distinct id from (select message_id as id from ${ACTIONS} ${where(conditions)} offset 0) candidate
      ${where(eitherConditions(filter, 'candidate.id', bind))}`,
    end: null,
  }
}

export const due = (filter: EmailFilter, options: SourceOptions): Source =>
  named(`select unnest(action_ids) from ${DUE_HINTS} hint`, `'pending'`, filter, options)

export const held = (filter: EmailFilter, options: SourceOptions): Source =>
  named('select unnest(action_ids) from postrider.leases', `'leased', 'armed'`, filter, options)

/** By the indexes of addresses: nobody gets so many that they could not all be read. */
export function toAddress(filter: EmailFilter, { bind, bounds }: SourceOptions): Source[] {
  const address = bind(filter.to)
  const single = [
    `workspace_id = $1 and recipients @> array[${address}]::text[]`,
    ...bounded('message.id', bounds),
    ...singleConditions(filter, bind),
  ]
  const campaign = [
    // What each campaign would have sent them, by its key; and what they were sent on their walks.
    `action.id = any (array(
      select id from postrider.scheduled_actions where workspace_id = $1 and dedupe_key = any (array(
        select 'campaign:' || campaigns.id || ':' || contacts.id from postrider.contacts
        join postrider.campaigns on campaigns.workspace_id = $1 and campaigns.sequence_id is null
        where contacts.workspace_id = $1 and folded_address = ${address}))
      union all
      select steps.id from postrider.contacts
        join postrider.enrollments on enrollments.contact_id = contacts.id
        join postrider.scheduled_actions steps on steps.enrollment_id = enrollments.id
        where contacts.workspace_id = $1 and folded_address = ${address})) and contact_id is not null`,
    ...ofCampaign(filter, bind),
    ...bounded('action.id', bounds),
    ...campaignConditions(filter, bind),
  ]
  return [
    ...(filter.campaignId === undefined
      ? [{ matching: `select id from postrider.messages message ${where(single)}`, end: null }]
      : []),
    { matching: `select id from ${ACTIONS} action ${where(campaign)}`, end: null },
  ]
}
