import type { Database } from '../../src/db/client.js'
import { DEFAULT_WORKSPACE } from '../../src/id.js'
import type { Postrider } from '../../src/index.js'
import { call } from '../campaign/campaign-ground.js'
import { toUuid } from './fill-emails.js'

/**
 * A campaign of a sequence with everybody on a list enrolled: three emails of each wait for their time, of which the last
 * is months away, and a wait for the end of the walk. Written set by set, with ids and instants as the engine would have
 * made them.
 */
export interface Walks {
  readonly sequence: string
  /** Under way, with everybody enrolled. */
  readonly campaign: string
  /** A draft of the same sequence, for another list. */
  readonly draft: string
}

export const EMAILS_EACH = 3
const SENDERS = 3
/** The first emails go out over so many days: each sender has its quota. */
const DAYS = 28
const PACE = {
  timezone: 'Europe/Paris',
  sending_days: [1, 2, 3, 4, 5],
  start_hour: 9,
  end_hour: 17,
  daily_quota: 5_000,
}

export async function fillWalks(
  postrider: Postrider,
  lists: { readonly enrolled: string; readonly people: number; readonly other: string },
): Promise<Walks> {
  const { id: template } = await call<{ id: string }>(postrider, 'POST', '/templates', {
    name: 'Step',
    subject: 'Hello {{ contact.name }}',
    text: 'Hello {{ contact.name }}.',
  })
  const steps = Array.from({ length: EMAILS_EACH }, (_, i) => ({ template, ...(i > 0 && { delay_days: 3 }) }))
  const { id: sequence } = await call<{ id: string }>(postrider, 'POST', '/sequences', { name: 'Outreach', steps })
  const senders: string[] = []
  for (let i = 0; i < SENDERS; i++) {
    const about = { address: `outreach${i}@example.com`, provider: 'capture', pace: PACE }
    senders.push((await call<{ id: string }>(postrider, 'POST', '/senders', about)).id)
  }
  const draftFor = async (listId: string, name: string) => {
    const about = { name, list_id: listId, sequence_id: sequence, sender_ids: senders }
    return (await call<{ id: string }>(postrider, 'POST', '/campaigns', about)).id
  }
  const campaign = await draftFor(lists.enrolled, 'Outreach under way')
  // One that starts later enrolls nobody yet.
  const tomorrow = new Date(Date.now() + 86_400_000).toISOString()
  await call(postrider, 'POST', `/campaigns/${campaign}/launch`, { scheduled_at: tomorrow })
  await enrollAll(postrider.context.db, toUuid(campaign), toUuid(lists.enrolled), lists.people)
  return { sequence, campaign, draft: await draftFor(lists.other, 'Outreach to come') }
}

/** Ids as they are made one after the other: of each person by itself, of one millisecond. */
const idOf = (
  place: string,
) => `(lpad(to_hex((extract(epoch from now()) * 1000)::bigint - 10000000 + n), 12, '0') || '7'
  || lpad(to_hex(${place}), 3, '0') || '8' || substr(md5($1::text || n || ${place}), 1, 15))::uuid`

/** People whose emails are written with one statement. */
const CHUNK = 20_000

async function enrollAll(db: Database, campaignId: string, listId: string, people: number): Promise<void> {
  for (let first = 0; first < people; first += CHUNK)
    await db.query(ENROLL, [campaignId, listId, DAYS, people, first, Math.min(people, first + CHUNK)])
  await db.query(
    `update postrider.campaigns set status = 'running', started_at = now(), planned_at = now(), scheduled_at = null,
       planned = $2 where id = $1`,
    [campaignId, people],
  )
  await db.query(`update postrider.campaign_lists set finished_at = now() where campaign_id = $1`, [campaignId])
}

const ENROLL = `
     with people as materialized (
       select contacts.id as contact_id, address, n from (
         select contact_id as id, row_number() over (order by contact_id) as n
         from postrider.list_members where list_id = $2) members
       join postrider.contacts on contacts.id = members.id where n > $5 and n <= $6
     ), senders as materialized (
       select array_agg(sender_id order by sender_id) as ids from postrider.campaign_senders where campaign_id = $1
     ), walks as materialized (
       select ${idOf('0')} as id, people.*, ids[1 + n % cardinality(ids)] as sender_id,
         now() + interval '1 hour' + n * ($3::int * interval '1 day' / $4::int) as first_at
       from people, senders
     ), enrolled as (
       insert into postrider.enrollments (id, workspace_id, campaign_id, sequence_id, contact_id, sender_id, node_id,
         arrived, visit, moved_at)
       select walks.id, '${DEFAULT_WORKSPACE}', $1, sequence_id, contact_id, walks.sender_id, null, false, 1, now()
       from walks, postrider.campaigns where campaigns.id = $1 order by n
     ), steps as materialized (
       select ${idOf('step_number')} as id, walks.id as walk_id, n, contact_id, address, node_id, step_number,
         sequence_id, first_at + (step_number - 1) * interval '3 days' as run_at
       from walks, postrider.campaign_steps steps, postrider.campaigns where campaigns.id = $1 and campaign_id = $1
     ), sends as (
       insert into postrider.scheduled_actions (id, workspace_id, lane_id, type, dedupe_key, run_at, wake_at, payload,
         retry_policy, message_id, contact_id, enrollment_id, node_id)
       select id, '${DEFAULT_WORKSPACE}', $1, 'send', contact_id || ':' || sequence_id || ':' || step_number, run_at, run_at,
         jsonb_build_object('contact', contact_id, 'recipient', address,
           'delay', case step_number when 1 then 0 else 3 * 86400000 end),
         'outreach', id, contact_id, walk_id, node_id
       from steps order by n, step_number
     )
     insert into postrider.scheduled_actions (id, workspace_id, lane_id, type, dedupe_key, run_at, wake_at, payload,
       enrollment_id)
     select ${idOf('4095')}, '${DEFAULT_WORKSPACE}', $1, 'wait', id || '::wait:1', ended_at, ended_at,
       '{"visit": 1, "delay": 0}', id
     from (select *, first_at + interval '6 days 1 minute' as ended_at from walks) ending order by n`
