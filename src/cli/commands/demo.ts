import type { Command } from 'commander'
import { readEnvironment } from '../../config.js'
import { FASTEST } from '../../demo/sequences.js'
import type { Demo } from '../../demo/start-demo.js'
import { PostriderError } from '../../errors.js'
import { createLog, type Log } from '../../log.js'
import { CommandError, UNAVAILABLE } from '../command-error.js'
import { greetDemo } from '../demo-greeting.js'
import { note, print } from '../print.js'
import { runUntilSignal } from '../run-until-signal.js'

interface Flags {
  readonly port: string
  readonly fast: string
}

/** On this machine only: it has a password that is printed, and mail that anybody may read. */
const HOST = '127.0.0.1'

export function addDemo(program: Command): void {
  program
    .command('demo')
    .description('a small living story to look around in: nothing of it is real, and nothing is left of it')
    .option('--port <number>', 'where to listen; 0 for any free port', '3400')
    .option('--fast <times>', `how many times faster the days of a sequence in it pass, 1 to ${FASTEST}`, `${FASTEST}`)
    .addHelpText('after', HELP)
    .action(runDemo)
}

const HELP = `
It reads no settings: no DATABASE_URL, SMTP_URL, BROKER_URL or POSTRIDER_DATA. Its database is in a temporary directory
that is removed when it stops, and the only mail server it can reach is its own, in the same process.`

async function runDemo(flags: Flags): Promise<void> {
  const port = readNumber('port', flags.port, 0, 65_535)
  const fast = readNumber('fast', flags.fast, 1, FASTEST)
  const ignored = findIgnored()
  if (ignored.length > 0) note(`Not used by the demo: ${ignored.join(', ')}.`)
  // Only now: other commands need not load a whole story to start.
  const { removeAbandoned } = await import('../../demo/home.js')
  await removeAbandoned()
  note('Making a database, a mail server and a story. That takes some seconds.')
  // Failing is what it shows: that is on the screens, and not worth a log line each.
  const log = createLog('silent')
  const demo = await removingAtOnce(() => open(port, fast, log))
  try {
    await runUntilSignal(
      () => print(greetDemo(demo, { fast })),
      async () => note('\nStopping, and removing everything it had.'),
      log,
    )
  } finally {
    await demo.close()
  }
}

/** Whoever loses patience while it starts, or closes the terminal, leaves nothing behind either: see `startDemo`. */
async function removingAtOnce<T>(start: () => Promise<T>): Promise<T> {
  const leave = () => process.exit(1)
  process.on('SIGHUP', leave)
  process.on('SIGINT', leave)
  process.on('SIGTERM', leave)
  try {
    return await start()
  } finally {
    process.off('SIGINT', leave)
    process.off('SIGTERM', leave)
  }
}

async function open(port: number, fast: number, log: Log): Promise<Demo> {
  const { startDemo } = await import('../../demo/start-demo.js')
  try {
    return await startDemo({
      host: HOST,
      port,
      fast,
      log,
      onCrash: () => process.exit(1),
      onTrouble: (error) => note(`A part of the story did not happen: ${String(error)}`),
    })
  } catch (error) {
    if (((error as Error).cause as NodeJS.ErrnoException | undefined)?.code !== 'EADDRINUSE') throw error
    throw new CommandError(UNAVAILABLE, `Port ${port} is in use by another process: choose another with --port.`)
  }
}

/** What would decide where mail goes and what is touched, if this were not a demo. */
const DECISIVE = [
  'DATABASE_URL',
  'POSTRIDER_DATA',
  'BROKER_URL',
  'SMTP_URL',
  'POSTRIDER_API_KEY',
  'POSTRIDER_ADMIN_PASSWORD',
]

function findIgnored(): string[] {
  const environment = readEnvironment(process.env)
  return DECISIVE.flatMap((name) => [name, `${name}_FILE`]).filter((name) => environment[name])
}

function readNumber(flag: string, text: string, least: number, most: number): number {
  const number = /^\d+$/.test(text) ? Number(text) : NaN
  if (number >= least && number <= most) return number
  throw new PostriderError(
    'setting_invalid',
    `--${flag} is "${text}"; it must be a whole number from ${least} to ${most}.`,
  )
}
