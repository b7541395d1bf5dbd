#!/usr/bin/env node
import { Command, CommanderError } from 'commander'
import { addAdmin } from './commands/admin.js'
import { addCampaigns } from './commands/campaigns.js'
import { addConfig } from './commands/config.js'
import { addContacts } from './commands/contacts.js'
import { addDemo } from './commands/demo.js'
import { addDoctor } from './commands/doctor.js'
import { addEmails } from './commands/emails.js'
import { addEnrollments } from './commands/enrollments.js'
import { addImport } from './commands/import.js'
import { addKeys } from './commands/keys.js'
import { addLists } from './commands/lists.js'
import { addMigrate } from './commands/migrate.js'
import { addSend } from './commands/send.js'
import { addSenders } from './commands/senders.js'
import { addSequences } from './commands/sequences.js'
import { addServe } from './commands/serve.js'
import { addSimulate } from './commands/simulate.js'
import { addSink } from './commands/sink.js'
import { addStart } from './commands/start.js'
import { addSuppressions } from './commands/suppressions.js'
import { addTemplates } from './commands/templates.js'
import { addTick } from './commands/tick.js'
import { addTrace } from './commands/trace.js'
import { addWork } from './commands/work.js'
import { findClosest } from '../domain/did-you-mean.js'
import { exitCodeOf, reportError } from './exit-codes.js'
import { allowClosedPipes } from './print.js'
import { VERSION } from '../version.js'

const program = new Command('postrider')
  .description('A durable email engine: no email goes out twice, none is lost, and what nobody can decide is shown.')
  .version(VERSION)
  .showSuggestionAfterError()
  .exitOverride()
  .configureOutput({ outputError: (text, write) => write(text) })

/** In the order `--help` shows them: running it, using it, looking after it. */
const COMMANDS = [
  [addStart, addServe, addWork, addTick, addMigrate],
  [
    addSend,
    addEmails,
    addTrace,
    addImport,
    addContacts,
    addLists,
    addSuppressions,
    addTemplates,
    addSequences,
    addCampaigns,
    addSimulate,
    addEnrollments,
    addSenders,
    addKeys,
    addAdmin,
  ],
  [addDemo, addSink, addDoctor, addConfig],
]
for (const add of COMMANDS.flat()) add(program)

// With a default command, commander takes a mistyped one for an argument of that.
function refuseUnknownCommand([first]: readonly string[]): void {
  const names = ['help', ...program.commands.map((command) => command.name())]
  if (first === undefined || first.startsWith('-') || names.includes(first)) return
  const closest = findClosest(first, names)
  program.error(`error: unknown command '${first}'${closest ? `\n(Did you mean ${closest}?)` : ''}`)
}

allowClosedPipes()
try {
  refuseUnknownCommand(process.argv.slice(2))
  await program.parseAsync()
} catch (error) {
  // Commander has already said what is wrong; help and version are not errors.
  if (!(error instanceof CommanderError)) reportError(error)
  process.exitCode = exitCodeOf(error)
}
