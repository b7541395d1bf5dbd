#!/usr/bin/env node
import { Command, CommanderError } from 'commander'
import { findClosest } from '../domain/did-you-mean.js'
import { exitCodeOf, reportError } from './exit-codes.js'
import { allowClosedPipes } from './print.js'
import { VERSION } from '../version.js'

const program = new Command('postrider')
  .description('A durable email engine: no email goes out twice, none is lost, and what nobody can decide is shown.')
  .version(VERSION)
  .showSuggestionAfterError()
  .showHelpAfterError('(--help lists the commands, and after one what it takes)')
  .exitOverride()
  .configureOutput({ outputError: (text, write) => write(text) })

type Add = (program: Command) => void

/**
 * In the order `--help` shows them: running it, using it, looking after it. Each is loaded only when it is meant, because
 * loading all of them takes longer than most of them run.
 */
const COMMANDS: Readonly<Record<string, () => Promise<Add>>> = {
  start: async () => (await import('./commands/start.js')).addStart,
  serve: async () => (await import('./commands/serve.js')).addServe,
  work: async () => (await import('./commands/work.js')).addWork,
  tick: async () => (await import('./commands/tick.js')).addTick,
  migrate: async () => (await import('./commands/migrate.js')).addMigrate,

  send: async () => (await import('./commands/send.js')).addSend,
  emails: async () => (await import('./commands/emails.js')).addEmails,
  trace: async () => (await import('./commands/trace.js')).addTrace,
  import: async () => (await import('./commands/import.js')).addImport,
  contacts: async () => (await import('./commands/contacts.js')).addContacts,
  lists: async () => (await import('./commands/lists.js')).addLists,
  suppressions: async () => (await import('./commands/suppressions.js')).addSuppressions,
  templates: async () => (await import('./commands/templates.js')).addTemplates,
  sequences: async () => (await import('./commands/sequences.js')).addSequences,
  campaigns: async () => (await import('./commands/campaigns.js')).addCampaigns,
  simulate: async () => (await import('./commands/simulate.js')).addSimulate,
  enrollments: async () => (await import('./commands/enrollments.js')).addEnrollments,
  senders: async () => (await import('./commands/senders.js')).addSenders,
  keys: async () => (await import('./commands/keys.js')).addKeys,
  admin: async () => (await import('./commands/admin.js')).addAdmin,

  demo: async () => (await import('./commands/demo.js')).addDemo,
  sink: async () => (await import('./commands/sink.js')).addSink,
  doctor: async () => (await import('./commands/doctor.js')).addDoctor,
  config: async () => (await import('./commands/config.js')).addConfig,
}
const NAMES = ['help', ...Object.keys(COMMANDS)]

/** Settings alone mean `start`; help is about all of them. */
async function addCommands(args: readonly string[]): Promise<void> {
  const [first] = args
  const name = first === undefined || first.startsWith('-') ? 'start' : first
  const isVersion = first === '--version' || first === '-V'
  const isHelp = name === 'help' || (name !== first && (args.includes('--help') || args.includes('-h')))
  const meant = isVersion ? [] : isHelp ? Object.keys(COMMANDS) : [name]
  for (const one of meant) (await COMMANDS[one]!())(program)
}

// With a default command, commander takes a mistyped one for an argument of that.
function refuseUnknownCommand([first]: readonly string[]): void {
  if (first === undefined || first.startsWith('-') || NAMES.includes(first)) return
  const closest = findClosest(first, NAMES)
  program.error(`error: unknown command '${first}'${closest ? `\n(Did you mean ${closest}?)` : ''}`)
}

allowClosedPipes()
try {
  const args = process.argv.slice(2)
  refuseUnknownCommand(args)
  await addCommands(args)
  await program.parseAsync()
} catch (error) {
  // Commander has already said what is wrong; help and version are not errors.
  if (!(error instanceof CommanderError)) reportError(error)
  process.exitCode = exitCodeOf(error)
}
