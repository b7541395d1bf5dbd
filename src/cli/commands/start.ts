import type { Command } from 'commander'
import type { Config } from '../../config.js'
import { createLog, type Log } from '../../log.js'
import { publicUrlOf } from '../dashboard-url.js'
import { findFirstKey } from '../first-key.js'
import { findFirstLogin } from '../first-login.js'
import { greet } from '../greeting.js'
import { listen } from '../listen.js'
import { openServer } from '../open-postrider.js'
import { print } from '../print.js'
import { requireMailServer } from '../require-mail-server.js'
import { runUntilSignal } from '../run-until-signal.js'
import { addSettings, configFrom } from '../settings.js'

export function addStart(program: Command): void {
  addSettings(
    program
      .command('start', { isDefault: true })
      .description('API, dashboard and workers in one process (the default)'),
  ).action(async (flags: Record<string, unknown>) => {
    const config = configFrom(flags)
    await start(config, createLog(config.logLevel))
  })
}

async function start(config: Config, log: Log): Promise<void> {
  // Whoever supervises this process starts it again; leases bring back what was under way.
  const postrider = await openServer(config, log, { onCrash: () => process.exit(1) })
  try {
    const server = await listen(postrider, config)
    try {
      // On a database of its own it may go back to the dev inbox.
      if (config.databaseUrl !== null) await requireMailServer(postrider, config)
      await postrider.start()
      const { db } = postrider.context
      const [backlog, firstKey] = [await postrider.backlog(), await findFirstKey(db, config)]
      const firstLogin = await findFirstLogin(db, config, server.url)
      const dashboardUrl = `${publicUrlOf(config, server.url)}/admin`
      const announce = () =>
        print(greet({ postrider, config, backlog, firstKey, firstLogin, dashboardUrl, url: server.url }))
      await runUntilSignal(announce, () => server.close(), log)
    } finally {
      await server.close()
    }
  } finally {
    await postrider.stop()
  }
}
