import type { Command } from 'commander'
import { createLog } from '../../log.js'
import { openServer } from '../open-postrider.js'
import { requireMailServer } from '../require-mail-server.js'
import { runUntilSignal } from '../run-until-signal.js'
import { addSettings, configFrom } from '../settings.js'

export function addWork(program: Command): void {
  addSettings(
    program.command('work').description('only workers; any number of them on one DATABASE_URL; refuses an old schema'),
  ).action(async (flags: Record<string, unknown>) => {
    const config = configFrom(flags)
    const log = createLog(config.logLevel)
    const postrider = await openServer(config, log, { attach: true, migrate: false })
    try {
      await requireMailServer(postrider, config)
      await postrider.start()
      const seen = { database: postrider.database.description, concurrency: config.workerConcurrency }
      await runUntilSignal(
        () => log.info(seen, 'working'),
        () => postrider.stop(),
        log,
      )
    } finally {
      await postrider.stop()
    }
  })
}
