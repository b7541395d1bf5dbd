import { readBacklog } from '../db/actions.js'
import { type Database, explainForbidden } from '../db/client.js'
import { readSchemaStatus } from '../db/migrate.js'
import { type OpenDatabase, openDatabase } from '../db/open-database.js'
import { formatDurationMs } from '../domain/duration.js'
import type { Log } from '../log.js'

/** What `postrider doctor` finds: one line per subject, each with what to do about it. Changes nothing. */
export interface Finding {
  readonly subject: string
  readonly verdict: 'ok' | 'warning' | 'problem'
  readonly text: string
}

const SKEW_WARNING_MS = 2_000
const OLD_BACKLOG_MS = 60_000

export interface Examination {
  readonly databaseUrl: string | null
  readonly dataDirectory: string
  readonly log: Log
  /** What only the caller can reach, asked once the database is known to be usable. */
  readonly further: (db: Database) => Promise<readonly Finding[]>
}

export async function examine({ databaseUrl, dataDirectory, log, further }: Examination): Promise<Finding[]> {
  let opened: OpenDatabase
  try {
    opened = await openDatabase({ databaseUrl, dataDirectory, attach: true, log })
  } catch (error) {
    return [{ subject: 'database', verdict: 'problem', text: (error as Error).message }]
  }
  try {
    const { db, durable, description } = opened
    const schema = await examineSchema(db)
    return [
      { subject: 'database', verdict: durable ? 'ok' : 'warning', text: description },
      await examineClock(db),
      schema,
      ...(schema.verdict === 'ok' ? [...(await examineBacklog(db)), ...(await further(db))] : []),
    ]
  } catch (error) {
    const text = explainForbidden(error)
    if (text === null) throw error
    return [{ subject: 'database', verdict: 'problem', text }]
  } finally {
    await opened.close()
  }
}

async function examineSchema(db: Database): Promise<Finding> {
  const status = await readSchemaStatus(db)
  const finding = (verdict: Finding['verdict'], text: string) => ({ subject: 'schema', verdict, text })
  switch (status.kind) {
    case 'current':
      return finding('ok', `up to date (${status.version})`)
    case 'outdated':
      return finding('problem', `misses ${status.missing.join(', ')}: run "postrider migrate"`)
    case 'newer':
      return finding('problem', `has ${status.unknown.join(', ')}: run the newer version of Postrider that made it`)
    case 'edited':
      return finding('problem', `${status.names.join(', ')} differ from what was applied: restore the shipped files`)
  }
}

/** No clock but the database's decides anything; a difference only makes logs hard to read beside each other. */
async function examineClock(db: Database): Promise<Finding> {
  const asked = Date.now()
  const { rows } = await db.query<{ now: Date }>('select clock_timestamp() as now')
  const skew = Math.abs(rows[0]!.now.getTime() - (asked + Date.now()) / 2)
  return skew < SKEW_WARNING_MS
    ? { subject: 'clock', verdict: 'ok', text: 'this machine and the database agree' }
    : {
        subject: 'clock',
        verdict: 'warning',
        text: `this machine and the database differ by ${formatDurationMs(Math.round(skew / 1_000) * 1_000)}: logs will not line up; check NTP`,
      }
}

async function examineBacklog(db: Database): Promise<Finding[]> {
  const { due, oldestDueMs, leases, attention } = await readBacklog(db)
  const age =
    oldestDueMs === null
      ? ''
      : `, the oldest for ${formatDurationMs(Math.max(0, Math.round(oldestDueMs / 1_000)) * 1_000)}`
  const late = (oldestDueMs ?? 0) > OLD_BACKLOG_MS
  return [
    {
      subject: 'backlog',
      verdict: late ? 'warning' : 'ok',
      text: `${due} due${age}, ${leases} leases held${late ? ': is a worker running, or is a lane paused?' : ''}`,
    },
    {
      subject: 'attention',
      verdict: attention > 0 ? 'warning' : 'ok',
      text:
        attention > 0
          ? `${attention} actions failed or are uncertain: somebody should look`
          : 'nothing failed or uncertain',
    },
  ]
}
