import { Queue } from 'bullmq'
import { newId } from '../../src/index.js'
import type { Place } from '../delivery/open-postrider.js'
import type { Stage } from '../delivery/role.js'
import { fillList, openForCampaigns } from './campaign-ground.js'

/**
 * One row and one queue job per contact, the way useSend plans a campaign: it pages the contacts by cursor, asks which of
 * them have an email already, and then writes an email, a link between campaign and contact, and adds a job named after
 * the email, for one contact after the other. `atOnce` more than 1 is kinder than that.
 */
export interface NaiveTask {
  readonly place: Place
  readonly redisUrl: string
  readonly contacts: number
  readonly batchSize: number
  readonly atOnce: readonly number[]
}

export interface NaivePlanning {
  readonly atOnce: number
  readonly seconds: number
  readonly perSecond: number
}

const TABLES = `
  create schema naive;
  create table naive.emails (id uuid primary key, campaign_id uuid not null, contact_id uuid not null, "to" text not null,
    subject text not null, status text not null default 'QUEUED', created_at timestamptz not null default now(),
    updated_at timestamptz not null default now());
  create index on naive.emails (campaign_id);
  create table naive.campaign_emails (campaign_id uuid not null, contact_id uuid not null, email_id uuid not null,
    primary key (campaign_id, contact_id))`

export async function planNaively(task: NaiveTask, { watch }: Stage<null>): Promise<NaivePlanning[]> {
  const { place, redisUrl, contacts, batchSize } = task
  const postrider = await openForCampaigns(place)
  const { db } = postrider.context
  await fillList(postrider, contacts)
  for (const statement of TABLES.split(';')) await db.query(statement)
  const prefix = `postrider-bench-${process.pid}`
  const queue = new Queue('emails', { connection: { url: redisUrl, maxRetriesPerRequest: null }, prefix })
  await queue.waitUntilReady()
  const plannings: NaivePlanning[] = []

  for (const atOnce of task.atOnce) {
    const campaignId = newId()
    const add = async ({ id: contactId, address }: { id: string; address: string }) => {
      const id = newId()
      await db.query(
        `insert into naive.emails (id, campaign_id, contact_id, "to", subject) values ($1, $2, $3, $4, $5)`,
        [id, campaignId, contactId, address, 'News'],
        { name: 'naive email' },
      )
      await db.query(`insert into naive.campaign_emails values ($1, $2, $3)`, [campaignId, contactId, id], {
        name: 'naive link',
      })
      await queue.add(id, { emailId: id }, { jobId: id })
    }
    const unwatch = await watch()
    const from = performance.now()
    let cursor = '00000000-0000-0000-0000-000000000000'
    for (;;) {
      const { rows: page } = await db.query<{ id: string; address: string }>(
        'select id, address from postrider.contacts where id > $1 order by id limit $2',
        [cursor, batchSize],
      )
      if (page.length === 0) break
      await db.query('select contact_id from naive.campaign_emails where campaign_id = $1 and contact_id = any ($2)', [
        campaignId,
        page.map(({ id }) => id),
      ])
      const left = page.values()
      const worker = async () => {
        for (const contact of left) await add(contact)
      }
      await Promise.all(Array.from({ length: atOnce }, worker))
      cursor = page.at(-1)!.id
    }
    const seconds = (performance.now() - from) / 1_000
    await unwatch()
    plannings.push({ atOnce, seconds, perSecond: contacts / seconds })
  }
  await queue.obliterate({ force: true, count: 10_000 })
  await queue.close()
  await postrider.stop()
  return plannings
}
