#!/usr/bin/env node
import { Command, CommanderError } from 'commander'
import { addConfig } from './commands/config.js'
import { addDoctor } from './commands/doctor.js'
import { addMigrate } from './commands/migrate.js'
import { addStart } from './commands/start.js'
import { addTick } from './commands/tick.js'
import { addWork } from './commands/work.js'
import { findClosest } from '../domain/did-you-mean.js'
import { exitCodeOf, reportError } from './exit-codes.js'
import { VERSION } from '../version.js'

const program = new Command('postrider')
  .description('A durable email engine: no email goes out twice, none is lost, and what nobody can decide is shown.')
  .version(VERSION)
  .showSuggestionAfterError()
  .exitOverride()
  .configureOutput({ outputError: (text, write) => write(text) })

for (const add of [addStart, addWork, addTick, addMigrate, addDoctor, addConfig]) add(program)

// With a default command, commander takes a mistyped one for an argument of that.
function refuseUnknownCommand([first]: readonly string[]): void {
  const names = ['help', ...program.commands.map((command) => command.name())]
  if (first === undefined || first.startsWith('-') || names.includes(first)) return
  const closest = findClosest(first, names)
  program.error(`error: unknown command '${first}'${closest ? `\n(Did you mean ${closest}?)` : ''}`)
}

try {
  refuseUnknownCommand(process.argv.slice(2))
  await program.parseAsync()
} catch (error) {
  // Commander has already said what is wrong; help and version are not errors.
  if (!(error instanceof CommanderError)) reportError(error)
  process.exitCode = exitCodeOf(error)
}
