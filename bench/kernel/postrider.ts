import type * as OpenDatabaseModule from '../../src/db/open-database.js'
import type * as PostriderModule from '../../src/index.js'
import type * as LogModule from '../../src/log.js'
import type { Contender, Ground } from './contender.js'

const LANE = '019a0000-0000-7000-8000-000000000001'

export const openPostriderOnServer = (ground: Ground, settings: readonly number[]): Promise<Contender> =>
  openPostrider(ground, { databaseUrl: ground.databaseUrl }, settings)

export const openPostriderEmbedded = (ground: Ground, settings: readonly number[]): Promise<Contender> =>
  openPostrider(ground, { dataDirectory: ground.directory }, settings)

async function openPostrider(
  { postriderUrl }: Ground,
  place: { databaseUrl?: string; dataDirectory?: string },
  [concurrency = 1_000]: readonly number[],
): Promise<Contender> {
  const { createPostrider } = (await import(`${postriderUrl}index.js`)) as typeof PostriderModule
  // The handler must exist before it is known what to tell about its start.
  let onStart: (id: number) => void = () => undefined
  const postrider = await createPostrider({
    ...place,
    concurrency,
    handlers: {
      noop: {
        kind: 'hand-over',
        retryPolicy: 'standard',
        async handOver(action, grip) {
          onStart((action.payload as { id: number }).id)
          return (await grip.arm()) ? { kind: 'done' } : { kind: 'release' }
        },
      },
    },
  })
  return {
    async schedule(ids) {
      await postrider.actions.schedule(
        ids.map((id) => ({ type: 'noop', laneId: LANE, dedupeKey: `noop:${id}`, payload: { id } })),
      )
    },
    start(listener) {
      onStart = listener
      return postrider.start()
    },
    async isIdle() {
      const { due, leases } = await postrider.backlog()
      return due === 0 && leases === 0
    },
    stop: () => postrider.stop(),
    tally: () => tally(postriderUrl, place),
  }
}

/** Through a connection of its own: the public interface does not count rows, and should not. */
async function tally(postriderUrl: string, place: { databaseUrl?: string; dataDirectory?: string }) {
  const { openDatabase } = (await import(`${postriderUrl}db/open-database.js`)) as typeof OpenDatabaseModule
  const { createLog } = (await import(`${postriderUrl}log.js`)) as typeof LogModule
  const opened = await openDatabase({
    databaseUrl: place.databaseUrl ?? null,
    dataDirectory: place.dataDirectory ?? '',
    attach: false,
    log: createLog('warn'),
  })
  const { rows } = await opened.db.query<{ done: number; unfinished: number }>(
    `select count(*) filter (where state = 'done')::int as done,
       count(*) filter (where state <> 'done')::int as unfinished from postrider.scheduled_actions`,
  )
  await opened.close()
  return rows[0]!
}
