import { installOnDebian } from './install-on-debian.js'
import { plainError } from './plain-error.js'

/** A server program that tests start themselves, and what to tell whoever lacks it. */
export interface RequiredProgram<Binaries> {
  name: string
  find(): Binaries | null
  debianPackage: string
  /** The environment variable by which a running one can be named instead; or, of a `path`, where it is installed. */
  variable: string
  path?: true
}

type Installer = (debianPackage: string) => Promise<string | null>

/** The program's binaries, installed now if that is what it takes; or an error of one sentence saying what to install. */
export async function requireProgram<Binaries>(
  program: RequiredProgram<Binaries>,
  install: Installer = installOnDebian,
): Promise<Binaries> {
  const present = program.find()
  if (present !== null) return present
  const obstacle = await install(program.debianPackage)
  const installed = program.find()
  if (installed !== null) return installed
  throw plainError(
    `The tests need ${program.name}: install it (on Debian and Ubuntu the package ${program.debianPackage}), ` +
      `or ${program.path ? 'say where it is' : 'name a running one'} in ${program.variable}${obstacle ? ` (${obstacle})` : ''}.`,
  )
}

/**
 * Installs ahead what tests may ask for later, since downloading Erlang takes longer than a test may. What cannot be
 * installed is no error yet: perhaps nobody asks for it.
 */
export async function installAhead(programs: RequiredProgram<unknown>[]): Promise<void> {
  for (const program of programs) {
    if (program.find() === null) await installOnDebian(program.debianPackage)
  }
}
