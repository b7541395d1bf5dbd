import type { Command } from 'commander'
import { createPostrider } from '../../compose.js'
import { createLog } from '../../log.js'
import { addSettings, configFrom } from '../settings.js'

export function addMigrate(program: Command): void {
  addSettings(
    program
      .command('migrate')
      .description('bring the database schema up to date')
      .option('--json', 'print the applied migrations as JSON'),
    ['DATABASE_URL', 'POSTRIDER_DATA', 'LOG_LEVEL'],
  ).action(async (flags: Record<string, unknown> & { json?: true }) => {
    const config = configFrom(flags)
    const postrider = await createPostrider({ ...config, attach: true, log: createLog(config.logLevel) })
    const { migrated } = postrider
    await postrider.stop()
    const said = migrated.length > 0 ? `Applied ${migrated.join(', ')}.` : 'Up to date.'
    process.stdout.write(flags.json ? `${JSON.stringify({ applied: migrated })}\n` : `${said}\n`)
  })
}
