import { closeSync, fsyncSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { Database } from '../db/client.js'
import { settleActions } from '../db/settle-actions.js'
import type { Outcome } from '../domain/action.js'
import type { Log } from '../log.js'

/**
 * Local notes of what became of hand-overs, for the minutes when the database cannot be told.
 *
 * A server has said 250 and the database is away: if this process dies now, nobody would know, and the email would be
 * uncertain for ever. So the outcome is written to a file of this process first, with an fsync, and taken away when the
 * database has it. Whoever starts next in the same directory brings the notes of processes that are gone: as evidence,
 * fenced by the token of the lease under which it happened, so a decision that was made meanwhile is not overwritten.
 */
export interface OutcomeNotes {
  write(note: OutcomeNote): void
  /** The database has it now. */
  remove(actionId: string): void
  /** Tells the database what processes that are gone had noted; returns how many outcomes that settled. */
  replay(db: Database): Promise<number>
}

export interface OutcomeNote {
  readonly actionId: string
  readonly token: string
  readonly outcome: Outcome
}

const SUFFIX = '.notes'

/** `worker` is `host:pid:random`; its notes are in a file of that name. */
export function createOutcomeNotes(directory: string, worker: string, log: Log): OutcomeNotes {
  const file = join(directory, `${worker.replaceAll(/[^\w.-]/g, '_')}${SUFFIX}`)
  const noted = new Set<string>()

  return {
    write(note) {
      try {
        mkdirSync(directory, { recursive: true })
        const handle = openSync(file, 'a')
        try {
          writeSync(handle, `${JSON.stringify(note)}\n`)
          fsyncSync(handle)
        } finally {
          closeSync(handle)
        }
        noted.add(note.actionId)
      } catch (error) {
        log.warn({ action: note.actionId, err: error }, 'the outcome could not be noted locally either')
      }
    },
    remove(actionId) {
      if (!noted.delete(actionId) || noted.size > 0) return
      rmSync(file, { force: true })
    },
    async replay(db) {
      let settled = 0
      for (const name of listNotes(directory)) {
        if (belongsToTheLiving(name, worker)) continue
        const path = join(directory, name)
        for (const { actionId, token, outcome } of readNotes(path))
          settled += (await settleActions(db, [{ id: actionId, leaseToken: token, outcome }])).size
        rmSync(path, { force: true })
        log.info({ file: name, settled }, 'replayed what a process that is gone had noted')
      }
      return settled
    },
  }
}

function listNotes(directory: string): string[] {
  try {
    return readdirSync(directory).filter((name) => name.endsWith(SUFFIX))
  } catch {
    return []
  }
}

/** A process that died while writing leaves half a line, whose outcome nobody was told of. */
function readNotes(path: string): OutcomeNote[] {
  return readFileSync(path, 'utf8')
    .split('\n')
    .flatMap((line) => {
      try {
        return line === '' ? [] : [JSON.parse(line) as OutcomeNote]
      } catch {
        return []
      }
    })
}

function belongsToTheLiving(name: string, worker: string): boolean {
  const [host, pid] = name.slice(0, -SUFFIX.length).split('_').slice(-3)
  const [ownHost, ownPid] = worker
    .replaceAll(/[^\w.-]/g, '_')
    .split('_')
    .slice(-3)
  // The same number on this host is this process, so the file is from an earlier life of it.
  if (host !== ownHost || pid === ownPid) return false
  try {
    process.kill(Number(pid), 0)
    return true
  } catch {
    return false
  }
}
