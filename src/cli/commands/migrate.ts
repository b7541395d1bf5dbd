import type { Command } from 'commander'
import { createLog } from '../../log.js'
import { openPostrider } from '../open-postrider.js'
import { print, printJson } from '../print.js'
import { addSettings, configFrom, DATABASE_SETTINGS } from '../settings.js'

export function addMigrate(program: Command): void {
  addSettings(
    program
      .command('migrate')
      .description('bring the database schema up to date')
      .option('--json', 'print the applied migrations as JSON'),
    DATABASE_SETTINGS,
  ).action(async (flags: Record<string, unknown> & { json?: true }) => {
    const config = configFrom(flags)
    const postrider = await openPostrider(config, createLog(config.logLevel), { attach: true })
    const { migrated } = postrider
    await postrider.stop()
    if (flags.json) printJson({ applied: migrated })
    else print(migrated.length > 0 ? `Applied ${migrated.join(', ')}.` : 'Up to date.')
  })
}
