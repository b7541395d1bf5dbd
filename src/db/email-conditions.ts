import { EMAIL_STATUSES, statesOf } from '../domain/email-status.js'
import type { EmailFilter } from './email-filter.js'
import { ofEmail, ofMessage } from './of-email.js'

/**
 * What a filter asks of an email: of a row `message` for a single one, of a row `action` for one of a campaign, which is
 * its own delivery.
 */
export type Bind = (value: unknown) => string

// The place of the shown status in the list of statuses: the least finished delivery has the lowest.
const RANK = `case ${EMAIL_STATUSES.map(
  (status, i) =>
    `when state in (${statesOf(status)
      .map((state) => `'${state}'`)
      .join(', ')}) ${status === 'scheduled' ? 'and reason_code is null ' : ''}then ${i}`,
).join(' ')} end`

/** The rank of an email with any number of deliveries, of which is said how they are found. */
export const rankOf = (deliveries: string) =>
  `(select min(${RANK}) from postrider.scheduled_actions where ${deliveries})`

/** Of an email of either kind: the two are asked one after the other, which takes half as long as both at once. */
export const rankOfEither = (id: string) =>
  `coalesce(${rankOf(`id = ${id} and contact_id is not null`)}, ${rankOf(ofMessage(id))})`

function statusCondition({ status }: EmailFilter, rank: string): string[] {
  const statuses = status === undefined ? [] : typeof status === 'string' ? [status] : status
  if (statuses.length === 0) return []
  return [`${rank} in (${statuses.map((wanted) => EMAIL_STATUSES.indexOf(wanted)).join(', ')})`]
}

const patternOf = (q: string) => `%${q.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`

/** What only the message knows. */
function messageConditions({ q, senderId }: EmailFilter, bind: Bind): string[] {
  const conditions = senderId === undefined ? [] : [`message.sender_id = ${bind(senderId)}::uuid`]
  if (q === undefined) return conditions
  const pattern = bind(patternOf(q))
  return [
    ...conditions,
    `(message.subject ilike ${pattern} or array_to_string(message.recipients, ' ') ilike ${pattern})`,
  ]
}

const deliveryCondition = ({ reasonCode }: EmailFilter, deliveries: string, bind: Bind): string[] =>
  reasonCode === undefined
    ? []
    : [
        `exists (select 1 from postrider.scheduled_actions delivery
      where ${deliveries} and delivery.reason_code = ${bind(reasonCode)})`,
      ]

export const singleConditions = (filter: EmailFilter, bind: Bind): string[] => [
  ...messageConditions(filter, bind),
  ...deliveryCondition(filter, ofMessage('message.id', { alias: 'delivery' }), bind),
  ...statusCondition(filter, rankOf(ofMessage('message.id'))),
]

/** Subjects and senders are the campaign's: asked once for all of its emails. */
function plannedConditions({ q, senderId }: EmailFilter, bind: Bind): string[] {
  const conditions = []
  if (senderId !== undefined) {
    const sender = bind(senderId)
    conditions.push(`case when action.enrollment_id is null
      then action.lane_id in (select id from postrider.campaigns where workspace_id = $1 and sender_id = ${sender}::uuid)
      else exists (select 1 from postrider.enrollments where id = action.enrollment_id and sender_id = ${sender}::uuid) end`)
  }
  if (q !== undefined) {
    const pattern = bind(patternOf(q))
    conditions.push(`(action.payload ->> 'recipient' ilike ${pattern}
      or action.lane_id in (select campaigns.id from postrider.campaigns join postrider.template_versions versions
        on versions.template_id = campaigns.template_id and versions.version = campaigns.template_version
        where workspace_id = $1 and versions.subject ilike ${pattern})
      or (action.lane_id, action.node_id) in (select step.campaign_id, step.node_id from postrider.campaign_steps step
        join postrider.campaigns on campaigns.id = step.campaign_id and workspace_id = $1
        join postrider.template_versions versions
          on versions.template_id = step.template_id and versions.version = step.template_version
        where coalesce(step.subject, versions.subject) ilike ${pattern}))`)
  }
  return conditions
}

export const campaignConditions = (filter: EmailFilter, bind: Bind): string[] => [
  ...plannedConditions(filter, bind),
  ...(filter.reasonCode === undefined ? [] : [`action.reason_code = ${bind(filter.reasonCode)}`]),
  ...statusCondition(filter, `(${RANK})`),
]

/** Of an email of either kind of which only the id is at hand. */
export function eitherConditions(filter: EmailFilter, id: string, bind: Bind): string[] {
  const conditions = [
    ...deliveryCondition(filter, ofEmail(id, { alias: 'delivery' }), bind),
    ...statusCondition(filter, rankOfEither(id)),
  ]
  const single = messageConditions(filter, bind)
  if (single.length === 0) return conditions
  const planned = plannedConditions(filter, bind)
  return [
    `(exists (select 1 from postrider.messages message where message.id = ${id} and ${single.join(' and ')})
      or exists (select 1 from postrider.scheduled_actions action
        where action.id = ${id} and action.contact_id is not null and ${planned.join(' and ')}))`,
    ...conditions,
  ]
}
