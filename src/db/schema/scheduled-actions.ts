import { sql } from 'drizzle-orm'
import {
  boolean,
  check,
  customType,
  date,
  index,
  integer,
  jsonb,
  text,
  timestamp,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core'
import { ACTION_STATES, ATTENTION_STATES, UNSENT_STATES } from '../../domain/states.js'
import { postrider } from './postrider.js'

const oneOf = (states: readonly string[]) => sql.raw(states.map((state) => `'${state}'`).join(', '))

/** Compared byte by byte: a key is nobody's language, and the rules of one cost more than the rest of the comparison. */
const plainText = customType<{ data: string }>({ dataType: () => 'text COLLATE "C"' })

const instant = (name: string) => timestamp(name, { withTimezone: true, mode: 'date' })

/**
 * The truth: everything that will happen, is happening or has happened.
 *
 * No index mentions a column that changes while an action is carried out (`state`, `lease_token`, …). PostgreSQL can
 * then move a row from pending to leased, armed and done in place (HOT), without touching any index; with `state` in
 * a single index predicate each of those moves would write every index again. That is why what is due is kept beside
 * the rows, in `ready_actions`, and why `wake_at` and `needs_attention` exist.
 */
export const scheduledActions = postrider.table(
  'scheduled_actions',
  {
    id: uuid('id').primaryKey(),
    workspaceId: uuid('workspace_id').notNull(),
    laneId: uuid('lane_id').notNull(),
    type: text('type').notNull(),
    dedupeKey: plainText('dedupe_key').notNull(),
    state: text('state', { enum: ACTION_STATES }).notNull().default('pending'),
    runAt: instant('run_at').notNull(),
    /** When the promoter should make a hint of it; null once there is one. Equal to run_at while it is in the future. */
    wakeAt: instant('wake_at'),
    expiresAt: instant('expires_at'),
    attempts: integer('attempts').notNull().default(0),
    /** How often a worker died holding it. */
    rescues: integer('rescues').notNull().default(0),
    payload: jsonb('payload').notNull().default({}),
    retryPolicy: text('retry_policy'),
    /** The email it sends, for a `send`. */
    messageId: uuid('message_id'),
    /** What its sender chose for the case that nobody can know: hold it (null), or hand it over again. */
    onUncertain: text('on_uncertain', { enum: ['resend'] }),
    /** Whom it is for, for an email that is rendered when it goes out. Its lane is then its campaign. */
    contactId: uuid('contact_id'),
    /** The day of its sender's quota it is booked on. */
    bookedOn: date('booked_on', { mode: 'string' }),
    /** The instant of that day it was given, if it keeps a gap. */
    slotAt: instant('slot_at'),
    enrollmentId: uuid('enrollment_id'),
    nodeId: text('node_id'),
    /** Kept while uncertain, so that a late answer can be matched with the hand-over it belongs to. */
    leaseToken: uuid('lease_token'),
    /** A hand-over nobody could decide about was followed by another: it may have been taken already, whatever comes. */
    inDoubt: boolean('in_doubt').notNull().default(false),
    needsAttention: boolean('needs_attention').notNull().default(false),
    /** It came to an end without being handed over. Made of the state, but changing at most once: that can be indexed. */
    endedUnsent: boolean('ended_unsent')
      .notNull()
      .generatedAlwaysAs(sql`state in (${oneOf(UNSENT_STATES)})`),
    /** It waits, and not for the first time. Made of two columns, but changing only with `wake_at`: that can be indexed. */
    retrying: boolean('retrying')
      .notNull()
      .generatedAlwaysAs(sql`wake_at is not null and reason_code is not null`),
    reason: text('reason'),
    reasonCode: text('reason_code'),
    createdAt: instant('created_at').notNull().defaultNow(),
    stateAt: instant('state_at').notNull().defaultNow(),
  },
  (table) => [
    uniqueIndex('scheduled_actions_dedupe').on(table.workspaceId, table.dedupeKey),
    index('scheduled_actions_waiting')
      .on(table.wakeAt)
      .where(sql`wake_at is not null`),
    // The emails of a status in the order they are listed in. Sending itself touches none of them.
    index('scheduled_actions_attention')
      .on(table.workspaceId, table.messageId)
      .where(sql`needs_attention`),
    index('scheduled_actions_emails_waiting')
      .on(table.workspaceId, table.messageId)
      .where(sql`wake_at is not null and message_id is not null`),
    index('scheduled_actions_emails_retrying')
      .on(table.workspaceId, table.messageId)
      .where(sql`retrying and message_id is not null`),
    index('scheduled_actions_emails_unsent')
      .on(table.workspaceId, table.messageId)
      .where(sql`ended_unsent and message_id is not null`),
    // With the type, so that the emails of a lane are counted without reading them.
    index('scheduled_actions_lane').on(table.laneId, table.id, table.type),
    // What there is of a lane beside what has gone out, so that a campaign of a million can be counted in no time, and
    // listed without passing over the emails of others.
    index('scheduled_actions_lane_waiting')
      .on(table.laneId, table.messageId)
      .where(sql`wake_at is not null and message_id is not null`),
    index('scheduled_actions_lane_retrying')
      .on(table.laneId, table.messageId)
      .where(sql`retrying and message_id is not null`),
    // What waits in the order in which it will go out. Only what waits for a time is in it, and leaves it when that comes.
    index('scheduled_actions_calendar')
      .on(table.laneId, table.wakeAt, table.id)
      .where(sql`wake_at is not null and contact_id is not null`),
    index('scheduled_actions_lane_attention')
      .on(table.laneId, table.messageId)
      .where(sql`needs_attention`),
    index('scheduled_actions_lane_unsent')
      .on(table.laneId, table.messageId)
      .where(sql`ended_unsent`),
    index('scheduled_actions_contacts')
      .on(table.workspaceId, table.id)
      .where(sql`contact_id is not null`),
    // Not of campaigns, whose emails are their own deliveries: whatever is indexed of those is paid for a million times.
    index('scheduled_actions_message')
      .on(table.messageId)
      .where(sql`message_id is not null and contact_id is null`),
    index('scheduled_actions_resend')
      .on(table.id)
      .where(sql`needs_attention and on_uncertain = 'resend'`),
    index('scheduled_actions_enrollment')
      .on(table.enrollmentId, table.nodeId)
      .where(sql`enrollment_id is not null`),
    check('scheduled_actions_state', sql`state in (${oneOf(ACTION_STATES)})`),
    check('scheduled_actions_waits_only_pending', sql`wake_at is null or state = 'pending'`),
    check('scheduled_actions_lease', sql`(state in ('leased', 'armed', 'uncertain')) = (lease_token is not null)`),
    check('scheduled_actions_attention', sql`(state in (${oneOf(ATTENTION_STATES)})) = needs_attention`),
    // What may have been taken cannot end as if it never was.
    check('scheduled_actions_doubt', sql`not in_doubt or state not in ('failed', ${oneOf(UNSENT_STATES)})`),
    check('scheduled_actions_attempts', sql`attempts >= 0 and rescues >= 0`),
    check('scheduled_actions_dedupe_key', sql`length(dedupe_key) between 1 and 512`),
    check('scheduled_actions_on_uncertain', sql`on_uncertain = 'resend'`),
    check('scheduled_actions_node', sql`node_id is null or enrollment_id is not null`),
  ],
)
