import type * as ClientModule from '../../src/db/client.js'
import type * as CompleteActionModule from '../../src/db/complete-action.js'
import type { LeasedAction } from '../../src/domain/action.js'
import { newId, type Postrider } from '../../src/index.js'
import type * as RunBatchModule from '../../src/operations/run-campaign-batch.js'
import type { Place } from '../delivery/open-postrider.js'
import type { Stage } from '../delivery/role.js'
import { median, quantile } from '../support/statistics.js'
import { draftCampaign, fillList, launchCampaign, openForCampaigns } from './campaign-ground.js'

/** Plans a whole list with nobody sending: batch after batch, each in the transaction it has in a worker. */
export interface PlanTask {
  readonly place: Place
  readonly contacts: number
  readonly batchSizes: readonly number[]
}

export interface Planning {
  readonly batchSize: number
  readonly launchMs: number
  readonly seconds: number
  readonly perSecond: number
  /** Medians of the first and of the last tenth: they are the same if the cost does not grow with the list. */
  readonly firstMs: number
  readonly lastMs: number
  readonly p99Ms: number
  readonly cpuSeconds: number
}

export async function plan({ place, contacts, batchSizes }: PlanTask, { watch }: Stage<null>): Promise<Planning[]> {
  const postrider = await openForCampaigns(place)
  const list = await fillList(postrider, contacts)
  const plannings: Planning[] = []
  for (const batchSize of batchSizes) {
    const draft = await draftCampaign(postrider, list, batchSize)
    const asked = performance.now()
    await launchCampaign(postrider, draft)
    const launchMs = performance.now() - asked
    const turn = await openTurns(place, postrider, draft.laneId)
    const unwatch = await watch()
    const cpuBefore = process.cpuUsage()
    const took: number[] = []
    while (!(await isPlanned(postrider, draft.laneId))) {
      const began = performance.now()
      await turn()
      took.push(performance.now() - began)
    }
    const seconds = took.reduce((sum, ms) => sum + ms, 0) / 1_000
    const cpu = process.cpuUsage(cpuBefore)
    await unwatch()
    await requireAllPlanned(postrider, draft.laneId, contacts)
    const tenth = Math.max(1, Math.floor(took.length / 10))
    plannings.push({
      batchSize,
      launchMs,
      seconds,
      perSecond: contacts / seconds,
      firstMs: median(took.slice(0, tenth)),
      // Without the very last, which is not full.
      lastMs: median(took.slice(-tenth - 1, -1)),
      p99Ms: quantile(took, 0.99),
      cpuSeconds: (cpu.user + cpu.system) / 1e6,
    })
    await postrider.context.db.query('truncate postrider.scheduled_actions, postrider.ready_actions')
    await postrider.context.db.query('checkpoint').catch(() => undefined)
  }
  await postrider.stop()
  return plannings
}

const HOUR_MS = 3_600_000

/**
 * What a worker does with a batch action: it is leased, which as in a claim does not wait for the disk, completed, has its
 * effect and comes again, with two commits. Only that one action is leased here; through the dispatcher the emails would be
 * claimed as well, and this is about planning.
 */
async function openTurns(
  { postriderUrl }: Place,
  { context }: Postrider,
  laneId: string,
): Promise<() => Promise<void>> {
  const { RELAXED_COMMIT } = (await import(`${postriderUrl}db/client.js`)) as typeof ClientModule
  const { completeAction, repeatAction } = (await import(
    `${postriderUrl}db/complete-action.js`
  )) as typeof CompleteActionModule
  const { runCampaignBatch } = (await import(
    `${postriderUrl}operations/run-campaign-batch.js`
  )) as typeof RunBatchModule
  const { db, log } = context
  const leaseToken = newId()
  const { rows } = await db.query<{ id: string; workspaceId: string }>(
    `select id, workspace_id as "workspaceId" from postrider.scheduled_actions where lane_id = $1 and type = 'batch'`,
    [laneId],
  )
  const action = { ...rows[0]!, laneId, leaseToken } as LeasedAction
  await db.query(
    `insert into postrider.leases (token, worker, leased_at, expires_at, action_ids)
     values ($1, 'bench', now(), now() + $2::float8 * interval '1 millisecond', array[$3::uuid])`,
    [leaseToken, HOUR_MS, action.id],
  )
  return async () => {
    await db.query(
      `with ${RELAXED_COMMIT}
       update postrider.scheduled_actions set state = 'leased', lease_token = $2, wake_at = null from relaxed where id = $1`,
      [action.id, leaseToken],
      { name: 'lease batch' },
    )
    await db.transaction(async (tx) => {
      if (!(await completeAction(tx, action))) throw new Error('The batch action was not ours.')
      const waitMs = await runCampaignBatch(tx, action, {
        log,
        random: Math.random,
        batchesAhead: Number.POSITIVE_INFINITY,
      })
      if (waitMs !== null) await repeatAction(tx, action.id, waitMs)
    })
  }
}

async function isPlanned({ context }: Postrider, laneId: string): Promise<boolean> {
  const { rows } = await context.db.query<{ done: boolean }>(
    'select planned_at is not null as done from postrider.campaigns where id = $1',
    [laneId],
    { name: 'is planned' },
  )
  return rows[0]!.done
}

async function requireAllPlanned({ context }: Postrider, laneId: string, contacts: number): Promise<void> {
  const { rows } = await context.db.query<{ planned: number; done: boolean; emails: number }>(
    `select planned, planned_at is not null as done,
       (select count(*)::int from postrider.scheduled_actions where lane_id = $1 and type = 'send') as emails
     from postrider.campaigns where id = $1`,
    [laneId],
  )
  const { planned, done, emails } = rows[0]!
  if (planned !== contacts || emails !== contacts || !done)
    throw new Error(`${contacts} were to be planned, but the database says ${JSON.stringify(rows[0])}.`)
}
