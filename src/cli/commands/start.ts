import type { Command } from 'commander'
import { createPostrider } from '../../compose.js'
import { createLog } from '../../log.js'
import { runUntilSignal } from '../run-until-signal.js'
import { addSettings, configFrom } from '../settings.js'
import { VERSION } from '../../version.js'

export function addStart(program: Command): void {
  addSettings(
    program.command('start', { isDefault: true }).description('everything in one process (the default)'),
  ).action(async (flags: Record<string, unknown>) => {
    const config = configFrom(flags)
    const log = createLog(config.logLevel)
    const postrider = await createPostrider({
      ...config,
      concurrency: config.workerConcurrency,
      log,
      // Whoever supervises this process starts it again; leases bring back what was under way.
      onCrash: () => process.exit(1),
    })
    await postrider.start()
    const { due, attention } = await postrider.backlog()
    const say = (text: string) => process.stdout.write(`${text}\n`)
    say(`Postrider ${VERSION}`)
    say(`  database  ${postrider.database.description}`)
    say(`  schema    ${postrider.migrated.length > 0 ? `applied ${postrider.migrated.join(', ')}` : 'up to date'}`)
    say(`  worker    ${config.workerConcurrency} actions at once, leases of ${config.leaseMs / 1_000} s`)
    say(`  backlog   ${due} due, ${attention} failed or uncertain`)
    say('Ready. Ctrl-C stops it: what is armed is finished, the rest is given back.')
    await runUntilSignal(() => postrider.stop(), log)
  })
}
