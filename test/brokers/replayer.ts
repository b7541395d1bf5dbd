import { setTimeout as sleep } from 'node:timers/promises'
import type { Hint } from '../../src/brokers/broker.js'
import { openBroker } from '../../src/brokers/open-broker.js'
import { connect } from '../../src/db/client.js'
import { silent } from '../support/kernel.js'

/**
 * Has every message delivered twice: whatever a relay takes for publishing is published once more into the same queue,
 * under a job id of its own, so that no broker can tell that it is a copy. A trigger notes what was taken; a row of
 * `published_hints` may be gone before anybody could look.
 */
export interface Replayer {
  /** Copies the broker has confirmed. */
  readonly copies: number
  /** Resolves when every message so far has its copy, and all were delivered. */
  caughtUp(): Promise<void>
  /** Takes the trigger away, too. */
  stop(): Promise<void>
}

const BATCH = 500
const LOOK_MS = 20

export async function startReplayer(databaseUrl: string, brokerUrl: string): Promise<Replayer> {
  const db = connect({ connection: { connectionString: databaseUrl }, maxConnections: 1 })
  const broker = await openBroker(brokerUrl, silent)
  await db.query(`
    create schema replayer;
    create table replayer.taken (action_id uuid not null);
    create function replayer.note() returns trigger language plpgsql as $$
      begin insert into replayer.taken values (new.action_id); return null; end $$;
    create trigger replayer_note after insert or update of queued_at on postrider.published_hints
      for each row execute function replayer.note()`)
  let copies = 0
  let stopping = false
  let looks = 0
  /** What was noted and could not be copied yet. */
  let left: Hint[] = []

  const look = async () => {
    if (left.length === 0) {
      const { rows } = await db.query<{ id: string; key: string }>(
        `with noted as (
           delete from replayer.taken where ctid = any (array(select ctid from replayer.taken limit ${BATCH}))
           returning action_id
         ) select id, dedupe_key as key from noted join postrider.scheduled_actions on id = action_id`,
      )
      left = rows.map(({ id, key }, i) => ({
        actionId: id,
        key,
        jobId: `replayed.${looks}.${i}`,
        type: 'send',
        rank: 0,
        delayMs: 0,
      }))
    }
    looks++
    if (left.length === 0 || !broker.isUp()) return false
    await broker.publish(left)
    copies += left.length
    left = []
    return true
  }
  const run = async () => {
    while (!stopping) {
      // A broker that goes away meanwhile gets the whole batch again: a few then come three times.
      const more = await look().catch(() => false)
      if (!more) await sleep(LOOK_MS)
    }
  }
  const running = run()

  return {
    get copies() {
      return copies
    },
    async caughtUp() {
      for (;;) {
        const { rows } = await db.query('select from replayer.taken limit 1')
        if (rows.length === 0 && left.length === 0 && (await broker.countHeld()) === 0) return
        await sleep(LOOK_MS)
      }
    },
    async stop() {
      stopping = true
      await running
      await db.query(
        'drop trigger replayer_note on postrider.published_hints; drop function replayer.note; drop table replayer.taken; drop schema replayer',
      )
      await db.close()
      await broker.close()
    },
  }
}
