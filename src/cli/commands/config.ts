import type { Command } from 'commander'
import { describeConfig, parseConfig } from '../../config.js'
import { addSettings, readSettings } from '../settings.js'

export function addConfig(program: Command): void {
  addSettings(
    program
      .command('config')
      .description('print the effective settings, secrets redacted')
      .option('--json', 'print them as JSON'),
  ).action((flags: Record<string, unknown> & { json?: true }) => {
    const environment = readSettings(flags)
    parseConfig(environment)
    const settings = describeConfig(environment)
    if (flags.json) {
      process.stdout.write(`${JSON.stringify(Object.fromEntries(settings.map(({ name, value }) => [name, value])))}\n`)
      return
    }
    const width = Math.max(...settings.map(({ name }) => name.length))
    for (const { name, value, source } of settings)
      process.stdout.write(
        `${name.padEnd(width)}  ${value || '(none)'}${source === 'default' ? '' : `  [${source}]`}\n`,
      )
  })
}
