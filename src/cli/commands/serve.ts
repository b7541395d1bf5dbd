import type { Command } from 'commander'
import { createLog } from '../../log.js'
import { describeLogin, findFirstLogin } from '../first-login.js'
import { listen } from '../listen.js'
import { openServer } from '../open-postrider.js'
import { print } from '../print.js'
import { runUntilSignal } from '../run-until-signal.js'
import { addSettings, configFrom } from '../settings.js'

export function addServe(program: Command): void {
  addSettings(
    program
      .command('serve')
      .description(
        'only the HTTP API and the dashboard; any number of them on one DATABASE_URL; refuses an old schema',
      ),
  ).action(async (flags: Record<string, unknown>) => {
    const config = configFrom(flags)
    const log = createLog(config.logLevel)
    const postrider = await openServer(config, log, { attach: true, migrate: false })
    try {
      const server = await listen(postrider, config)
      const login = await findFirstLogin(postrider.context.db, config, server.url)
      // For people, and not for the log: whoever has it chooses the password.
      if (login.kind === 'link') print(`Nobody can log in to the dashboard yet: ${describeLogin(login)}`)
      const seen = { url: `${server.url}/api`, database: postrider.database.description }
      await runUntilSignal(
        () => log.info(seen, 'serving'),
        () => server.close(),
        log,
      )
    } finally {
      await postrider.stop()
    }
  })
}
