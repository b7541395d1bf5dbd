import { type Command, Option } from 'commander'
import { type Config, type Environment, parseConfig, readEnvironment } from '../config.js'
import { type SettingName, SETTINGS } from '../settings.js'

const flagOf = (name: SettingName) => `--${name.toLowerCase().replaceAll('_', '-')}`

/** What a command needs that asks or decides something. */
export const DATABASE_SETTINGS = ['DATABASE_URL', 'POSTRIDER_DATA', 'LOG_LEVEL'] as const satisfies SettingName[]

/** Every setting is also a flag of the same name, and the flag wins. */
export function addSettings(
  command: Command,
  names: readonly SettingName[] = Object.keys(SETTINGS) as SettingName[],
): Command {
  for (const name of names) {
    const { help, fallback } = SETTINGS[name]
    command.addOption(new Option(`${flagOf(name)} <value>`, `${help}${fallback ? ` Default ${fallback}.` : ''}`))
  }
  return command
}

const camel = (name: string) => name.toLowerCase().replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase())

export function readSettings(flags: Record<string, unknown>): Environment {
  const given = (Object.keys(SETTINGS) as SettingName[])
    .filter((name) => typeof flags[camel(name)] === 'string')
    .map((name) => [name, flags[camel(name)] as string] as const)
  const environment = { ...readEnvironment(process.env) }
  // A flag beats the file variant of its setting as well.
  for (const [name] of given) delete environment[`${name}_FILE`]
  return { ...environment, ...Object.fromEntries(given) }
}

export const configFrom = (flags: Record<string, unknown>): Config => parseConfig(readSettings(flags))
