import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from '../../src/db/client.js'
import { showId } from '../../src/id.js'
import { buildPackage } from '../support/build-package.js'
import { seededRandom } from '../support/seeded-random.js'
import { type LaunchProcess, startLauncher } from './launch-process.js'
import { type World } from './world.js'
import { type Crew, PATIENT, runYear, type Year, type YearServer } from './year.js'

/**
 * A whole year of sequences, worked by two processes of their own, which are killed at random moments and begin again:
 * 5 senders, 20 campaigns, 10,000 contacts unless told otherwise.
 */
export interface SoakYearOptions {
  readonly databaseUrl: string
  readonly seed: number
  readonly contacts: number
  readonly report: (line: string) => void
}

const CAMPAIGNS = 20
const DAYS = 365
const FROM = new Date('2027-01-04T06:00:00Z')
/** One instant in so many sees a process die, at any moment of its work. Beginning again costs as much as forty instants. */
const killEvery = (contacts: number) => Math.max(30, Math.round(contacts / 40))
/** As long as a process may have been at it when it was killed. */
const LOST_MS = 5_000
/** In so many instants both processes work at once; in the others one of them, which is half the price. */
const BOTH_EVERY = 5
const CLOCK = 'public.test_clock'
const NOW = `(now() + (select shift from ${CLOCK}))`

export async function soakYear({ databaseUrl, seed, contacts, report }: SoakYearOptions): Promise<Year> {
  const db = connect({ connection: { connectionString: databaseUrl }, maxConnections: 4, now: NOW })
  const built = await buildPackage()
  try {
    await db.query(`create table if not exists ${CLOCK} (shift interval not null)`)
    await db.query(`insert into ${CLOCK} select interval '0' where not exists (select from ${CLOCK})`)
    const shiftClock = async (ms: number) => {
      await db.query(`update ${CLOCK} set shift = shift + $1 * interval '1 ms'`, [ms])
    }
    return await runYear(
      { db, location: { databaseUrl }, now: NOW, shiftClock },
      { seed, contacts, campaigns: CAMPAIGNS, from: FROM, days: DAYS, report, hire },
    )
  } finally {
    built.remove()
    await db.close()
  }

  async function hire(world: World, server: YearServer): Promise<Crew> {
    const random = seededRandom(seed + 1)
    const counts = { kills: 0, resent: 0, evident: 0 }
    const begin = async (): Promise<LaunchProcess> => {
      const made = startLauncher(built, {
        location: { databaseUrl },
        now: NOW,
        seed: seed + counts.kills,
        outreach: PATIENT,
      })
      await made.ready
      return made
    }
    const crew = [await begin(), await begin()]
    let tookMs = 0

    /** Somebody launches again what a dead process may have been launching: it was launched once. */
    const relaunch = async (by: LaunchProcess) => {
      const launched = world.diary.campaigns.filter(({ launchedAt }) => Number.isFinite(launchedAt))
      if (launched.length === 0) return
      const { status } = await by.post(`/api/campaigns/${showId('cmp', random.pick(launched).id)}/launch`)
      if (status !== 409) throw new Error(`A campaign was launched twice: ${status}`)
    }
    /** What nobody can know is looked up where it should have arrived. */
    const decide = async () => {
      const { rows } = await db.query<{ id: string }>(
        `select id from postrider.scheduled_actions where state = 'uncertain' and needs_attention`,
      )
      for (const { id } of rows) {
        const arrived = (await world.raw(id)) !== null || server.taken.some(({ raw }) => raw.includes(id))
        counts[arrived ? 'evident' : 'resent']++
        await world.mail.actions.resolve(id, arrived ? 'done' : 'again')
      }
    }
    return {
      counts,
      lostMs: LOST_MS,
      async tick() {
        if (random.next() >= 1 / killEvery(contacts)) {
          const began = performance.now()
          const both = random.next() < 1 / BOTH_EVERY
          await Promise.all((both ? crew : [random.pick(crew)]).map((one) => one.tick()))
          tookMs = performance.now() - began
        } else {
          const victim = Math.floor(random.next() * crew.length)
          const wait = random.next() * tookMs
          counts.kills++
          await Promise.all([
            ...crew.map((one, i) => one.tick().catch((error: unknown) => ifVictim(i === victim, error))),
            sleep(wait).then(() => crew[victim]!.kill()),
          ])
          crew[victim] = await begin()
          await relaunch(crew[victim])
        }
        await decide()
      },
      async close() {
        await Promise.all(crew.map((one) => one.kill()))
      },
    }
  }
}

function ifVictim(isVictim: boolean, error: unknown): void {
  if (!isVictim) throw error
}
