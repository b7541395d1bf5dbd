import { existsSync } from 'node:fs'
import { createPostrider } from '../compose.js'
import type { Postrider, PostriderOptions } from '../postrider.js'
import type { Config } from '../config.js'
import { ADMIN_NAME, findPasswordProblem } from '../domain/dashboard-user.js'
import { createLog, type Log } from '../log.js'
import { findSecret } from '../secret.js'
import { CommandError, NOT_FOUND } from './command-error.js'

/** How every command opens Postrider: with all settings, so that none of them works by half of them. */
type Opening = Pick<PostriderOptions, 'attach' | 'migrate' | 'onCrash'>

export const openPostrider = (config: Config, log: Log, opening: Opening): Promise<Postrider> =>
  createPostrider({ ...config, ...opening, concurrency: config.workerConcurrency, log })

/** For a process that sends or takes requests. Without the secret it would fail at the first sealed credentials. */
export function openServer(config: Config, log: Log, opening: Opening): Promise<Postrider> {
  findSecret(config.secret, config.databaseUrl === null ? config.dataDirectory : null)
  // Said and not refused: who sets it may be alone with it, and a server that does not start helps nobody at night.
  const weak = config.adminPassword !== null && findPasswordProblem(config.adminPassword, ADMIN_NAME)
  if (weak) log.warn(`POSTRIDER_ADMIN_PASSWORD is easily guessed: a password ${weak}`)
  return openPostrider(config, log, opening)
}

/**
 * For a command that asks or decides something and ends. It goes through the process that owns the embedded database,
 * if one runs. A server's schema is not its business: that is changed by `start` and `migrate`.
 */
export async function withPostrider<T>(
  config: Config,
  work: (postrider: Postrider) => Promise<T>,
  { create = false }: { readonly create?: boolean } = {},
): Promise<T> {
  const embedded = config.databaseUrl === null
  // Asked in the wrong directory, a new and empty database would only hide the mistake.
  if (embedded && !create && !existsSync(config.dataDirectory))
    throw new CommandError(
      NOT_FOUND,
      `There is no database in ${config.dataDirectory}. "postrider start" makes one; POSTRIDER_DATA or DATABASE_URL names another.`,
    )
  // What it did is on standard output; the log is for whoever looks for a fault.
  const log = createLog(config.logLevel === 'info' ? 'warn' : config.logLevel)
  const postrider = await openPostrider(config, log, { attach: true, migrate: embedded })
  try {
    return await work(postrider)
  } finally {
    await postrider.stop()
  }
}
