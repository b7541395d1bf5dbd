import type { Command } from 'commander'
import { parseDurationMs } from '../../domain/duration.js'
import { PostriderError } from '../../errors.js'
import { createLog } from '../../log.js'
import { openServer } from '../open-postrider.js'
import { print, printJson } from '../print.js'
import { requireMailServer } from '../require-mail-server.js'
import { addSettings, configFrom } from '../settings.js'

export function addTick(program: Command): void {
  addSettings(
    program
      .command('tick')
      .description('work until nothing is due or the time is up, then exit: for cron')
      .option('--for <duration>', 'how long at the most, such as 50s or 5m', '50s')
      .option('--json', 'print the counts as JSON'),
  ).action(async (flags: Record<string, unknown> & { for: string; json?: true }) => {
    const config = configFrom(flags)
    const forMs = parseDurationMs(flags.for)
    if (forMs === null)
      throw new PostriderError('setting_invalid', `--for is "${flags.for}"; it must be a duration such as 50s or 5m.`)
    const postrider = await openServer(config, createLog(config.logLevel), { attach: true })
    try {
      await requireMailServer(postrider, config)
      const counts = await postrider.tick(forMs)
      if (flags.json) printJson(counts)
      else
        print(`${counts.done} done, ${counts.retry} to retry, ${counts.failed} failed, ${counts.uncertain} uncertain`)
    } finally {
      await postrider.stop()
    }
  })
}
