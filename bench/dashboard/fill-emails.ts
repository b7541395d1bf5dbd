import type { Database } from '../../src/db/client.js'
import { hintActions } from '../../src/db/hint-actions.js'
import { DEFAULT_SENDER, DEFAULT_WORKSPACE } from '../../src/id.js'

/**
 * A busy system with a given number of emails, written set by set: two thirds single, one third of two campaigns, of
 * which one is under way. Most have gone out; some failed or are uncertain, some are due, many wait for the next days.
 * All of it happened within `hours`, ids and instants as the engine would have made them.
 */
export interface Filling {
  readonly emails: number
  readonly hours: number
}

const CHUNK = 100_000

/** An id of the instant it was made at. */
const idAt = (instant: string) => `(lpad(to_hex((extract(epoch from ${instant}) * 1000)::bigint), 12, '0') || '7'
  || substr(md5(n::text || $5::uuid), 1, 3) || '8' || substr(md5(n::text || $5::uuid), 4, 15))::uuid`

/** What becomes of the nth email. */
const STATE = `case
    when n % 100 = 7 then 'failed' when n % 1000 = 13 then 'uncertain' when n % 100 = 21 then 'canceled'
    when n % 100 = 22 then 'skipped' when n % 500 = 33 then 'expired' when n % 500 = 34 then 'dismissed'
    when n % 100 between 40 and 45 then 'pending' else 'done' end`

const REASONS = `(array['550 5.1.1 no such user', '554 5.7.1 refused by policy', '552 5.3.4 too large'])[1 + n % 3]`

/** A tenth of what is pending is due and has a hint, a tenth was tried and waits for its retry, the others wait. */
const ROW = `
    state = 'pending' and n / 100 % 10 = 0 as is_due, state = 'pending' and n / 100 % 10 = 1 as is_retried,
    now() + (n * 7919 % 172800) * interval '1 second' as later`

const ACTION_COLUMNS = `id, workspace_id, lane_id, type, dedupe_key, state, run_at, wake_at, attempts, payload,
  retry_policy, message_id, contact_id, lease_token, needs_attention, reason, reason_code, created_at, state_at`

const actions = (lane: string, payload: string, dedupe: string, message: string, contact: string) => `
  select action_id, '${DEFAULT_WORKSPACE}'::uuid, ${lane}, 'send', ${dedupe}, state,
    case when state <> 'pending' then made_at when is_due then now() - interval '20 seconds' else later end,
    case when state = 'pending' and not is_due then later end,
    case when state in ('done', 'failed', 'uncertain') or is_retried then 1 else 0 end,
    ${payload}, 'standard', ${message}, ${contact}, case state when 'uncertain' then gen_random_uuid() end,
    state in ('failed', 'uncertain'),
    case when state = 'failed' then ${REASONS} when is_retried then '451 4.3.0 try again later'
      when state = 'uncertain' then 'The reply never came.' end,
    case when state = 'failed' then (array['recipient', 'message', 'message'])[1 + n % 3] when is_retried then 'transient'
      when state = 'uncertain' then 'undecidable' end,
    made_at, made_at + interval '2 seconds'
  from filler`

const ATTEMPTS = `
  insert into postrider.attempts (action_id, id, at, outcome, failure, phase, code, reply, remote_host, duration_ms,
    worker, inline)
  select id, gen_random_uuid(), state_at, outcome, failure, 'reply', code, reply, 'mx.example.com:25', 120, 'bench:1', false
  from made cross join lateral (
    select * from (values ('accepted', null, 250, '250 2.0.0 queued as 4X9sV71kZz'), ('deferred', 'transient', 451, '451 4.3.0 try again later'),
      ('rejected', 'recipient', 550, '550 5.1.1 no such user'), ('uncertain', 'undecidable', null, 'no reply within 10 minutes'))
      as kinds (outcome, failure, code, reply)
    where outcome = case made.state when 'done' then 'accepted' when 'failed' then 'rejected'
        when 'uncertain' then 'uncertain' when 'pending' then case when made.attempts > 0 then 'deferred' end end
      or outcome = 'deferred' and made.state = 'done' and made.is_twentieth) seen
  order by state_at`

const filler = (offset: number) => `
  filler as materialized (
    select *, ${ROW} from (
      select n, ${STATE} as state, made_at, ${idAt(`made_at`)} as action_id from (
        select n, now() - ($4::float8 - n) / $4 * $3 * interval '1 hour' + ${offset} * interval '1 ms' as made_at
        from generate_series($1::bigint, $2::bigint) n) numbered) judged
  )`

const single = `
  with ${filler(0)}, messages as (
    insert into postrider.messages (id, workspace_id, sender_id, message_id, date, addressing, recipients, subject, html,
      text, headers, tags, on_uncertain, scheduled_at, created_at)
    select action_id, '${DEFAULT_WORKSPACE}', $5::uuid, '<' || action_id || '@example.com>', made_at,
      jsonb_build_object('from', jsonb_build_object('name', 'Shop', 'address', 'hello@example.com'), 'to',
        jsonb_build_array(jsonb_build_object('name', null, 'address', address)), 'cc', '[]'::jsonb, 'bcc', '[]'::jsonb,
        'reply_to', '[]'::jsonb),
      array[address], 'Your order ' || n || ' is on its way', repeat('<p>Thank you for your order.</p>', 12),
      repeat('Thank you for your order. ', 8), '{}', '[]', 'hold',
      case when state = 'pending' and not is_due and not is_retried then later end, made_at
    from filler cross join lateral (select 'person' || (n * 7919 % 250000) || '@example' || n % 50 || '.com' as address) named
    order by n
  ), made as (
    insert into postrider.scheduled_actions (${ACTION_COLUMNS})
    ${actions(
      '$5::uuid',
      `jsonb_build_object('message', action_id, 'recipient', 'person' || (n * 7919 % 250000) || '@example' || n % 50 || '.com')`,
      `'bench:' || n`,
      'action_id',
      'null::uuid',
    )} order by n
    returning id, lane_id, run_at, wake_at, state, state_at, attempts, dedupe_key like '%5' as is_twentieth
  ), hinted as (${hintActions(`select lane_id, run_at, id from made where state = 'pending' and wake_at is null`)}
  ), told as (
    insert into postrider.events (id, workspace_id, email_id, type, at)
    select ${idAt(`made_at + interval '1 minute'`)}, '${DEFAULT_WORKSPACE}', action_id,
      (array['delivered', 'opened', 'clicked'])[1 + n % 3], made_at + interval '1 minute'
    from filler where state = 'done' and n % 4 = 0
  ) ${ATTEMPTS}`

const ofCampaign = `
  with ${filler(1)}, made as (
    insert into postrider.scheduled_actions (${ACTION_COLUMNS})
    ${actions(
      '$5::uuid',
      `jsonb_build_object('contact', person.id, 'recipient', person.address)`,
      `'campaign:' || $5::uuid || ':' || person.id`,
      'action_id',
      'person.id',
    ).replace(
      'from filler',
      `from filler join (select id, address, row_number() over (order by id) - 1 + $1 as place
        from postrider.contacts where id > $6 and workspace_id = '${DEFAULT_WORKSPACE}' order by id limit $2 - $1 + 1) person
      on person.place = n`,
    )} order by n
    returning id, lane_id, run_at, wake_at, state, state_at, attempts, dedupe_key like '%5' as is_twentieth, contact_id
  ), hinted as (${hintActions(`select lane_id, run_at, id from made where state = 'pending' and wake_at is null`)}
  ), attempted as (${ATTEMPTS})
  select (array_agg(contact_id order by contact_id desc))[1] as last from made`

export const toUuid = (shown: string) => shown.replace(/^[a-z]+_(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')

export async function fillSingle(db: Database, { emails, hours }: Filling): Promise<void> {
  for (let first = 0; first < emails; first += CHUNK)
    await db.query(single, [first, Math.min(emails, first + CHUNK) - 1, hours, emails, DEFAULT_SENDER])
}

/** The campaign is launched already; the contacts of its list are there. */
export async function fillCampaign(db: Database, campaignId: string, { emails, hours }: Filling): Promise<void> {
  const lane = toUuid(campaignId)
  let last = '00000000-0000-0000-0000-000000000000'
  for (let first = 0; first < emails; first += CHUNK) {
    const { rows } = await db.query<{ last: string }>(ofCampaign, [
      first,
      Math.min(emails, first + CHUNK) - 1,
      hours,
      emails,
      lane,
      last,
    ])
    last = rows[0]!.last
  }
  await db.query(
    `update postrider.campaigns set planned = $2, last_cursor = $3, planned_at = now(), last_batch_at = now(),
       started_at = now() - interval '1 hour', status = 'running', template_version = 1, from_address = 'hello@example.com'
     where id = $1`,
    [lane, emails, last],
  )
}
