import type { Command } from 'commander'
import { createPostrider } from '../../compose.js'
import { createLog } from '../../log.js'
import { runUntilSignal } from '../run-until-signal.js'
import { addSettings, configFrom } from '../settings.js'

export function addWork(program: Command): void {
  addSettings(
    program.command('work').description('only workers; any number of them on one DATABASE_URL; refuses an old schema'),
  ).action(async (flags: Record<string, unknown>) => {
    const config = configFrom(flags)
    const log = createLog(config.logLevel)
    const postrider = await createPostrider({
      ...config,
      concurrency: config.workerConcurrency,
      attach: true,
      migrate: false,
      log,
    })
    await postrider.start()
    log.info({ database: postrider.database.description, concurrency: config.workerConcurrency }, 'working')
    await runUntilSignal(() => postrider.stop(), log)
  })
}
