import { once } from 'node:events'
import type { Command } from 'commander'
import { findClosest } from '../../domain/did-you-mean.js'
import { parseDurationMs } from '../../domain/duration.js'
import { PostriderError } from '../../errors.js'
import { ChaosSyntaxError } from '../sink/chaos.js'
import { createSinkVoice } from '../sink/sink-voice.js'
import { type Sink, type SinkOptions, startSink } from '../sink/start-sink.js'

interface Flags {
  readonly port: string
  readonly host: string
  readonly log?: string
  readonly hash?: true
  readonly keep?: string
  readonly tls?: true | string
  readonly auth?: string
  readonly maxConnections?: string
  readonly chaos: readonly string[]
  readonly seed?: string
  readonly duration?: string
  readonly quiet?: true
  readonly json?: true
}

export function addSink(program: Command): void {
  program
    .command('sink')
    .description('a test SMTP server that takes everything, logs what it took, and misbehaves on request')
    .option('--port <number>', 'where to listen; 0 for any free port', '2525')
    .option('--host <address>', 'on which address', '127.0.0.1')
    .option('--log <file>', 'append a line of JSON per message taken, before its client is answered')
    .option('--hash', 'note the SHA-256 of each message')
    .option('--keep <directory>', 'write each message there as an .eml file')
    .option('--tls [mode]', 'with a self-signed certificate: starttls (the default) or implicit')
    .option('--auth <user:pass>', 'take mail only after AUTH PLAIN, LOGIN or XOAUTH2 (the password is the token)')
    .option('--max-connections <number>', 'answer 421 to more than these')
    .option(
      '--chaos <rule>',
      'what goes wrong: phase:fault[:probability], such as rcpt:450:0.05 or dot:taken-drop:0.01; repeatable',
      (rule: string, rules: readonly string[]) => [...rules, rule],
      [],
    )
    .option('--seed <number>', 'repeat the chaos of another run')
    .option('--duration <duration>', 'stop by itself after this long, such as 30s')
    .option('--quiet', 'no line per message')
    .option('--json', 'print events as lines of JSON')
    .addHelpText('after', HELP)
    .action(runSink)
}

const HELP = `
Phases of --chaos: connect, greeting, ehlo, starttls, auth, mail, rcpt, data, body, dot (after the final dot).
Faults: a reply code such as 451 or 550, drop, reset, hang, garbage, slow. After the dot also taken-drop,
taken-reset, taken-hang, taken-garbage (the message is taken and logged, its client is never told) and
lost-drop (it is not). Every other fault after the dot, but slow, loses the message too.`

async function runSink(flags: Flags): Promise<void> {
  const durationMs = flags.duration === undefined ? null : parseDurationMs(flags.duration)
  // A timer set for longer than that goes off at once.
  if (flags.duration !== undefined && (durationMs === null || durationMs >= 2 ** 31))
    throw invalid('duration', flags.duration, 'it must be a duration such as 30s or 5m, and under 24 days.')
  const voice = createSinkVoice({ json: flags.json ?? false, quiet: flags.quiet ?? false })
  const sink = await start(flags, { ...readOptions(flags), ...voice.listeners, remember: false })
  const stop = voice.begin(sink)
  await untilToldOrOver(durationMs)
  await sink.close()
  stop()
}

function readOptions(flags: Flags): SinkOptions {
  return {
    host: flags.host,
    port: readNumber('port', flags.port, 0, 65_535),
    logFile: flags.log,
    hash: flags.hash,
    keepDirectory: flags.keep,
    tls: readTls(flags.tls),
    auth: readAuth(flags.auth),
    maxConnections:
      flags.maxConnections === undefined
        ? undefined
        : readNumber('max-connections', flags.maxConnections, 1, 1_000_000),
    chaos: flags.chaos.join(','),
    seed: flags.seed === undefined ? undefined : readNumber('seed', flags.seed, 0, 2 ** 31 - 1),
  }
}

const invalid = (flag: string, value: string, why: string, cause?: unknown) =>
  new PostriderError('setting_invalid', `--${flag} is "${value}"; ${why}`, { cause })

function readNumber(flag: string, text: string, min: number, max: number): number {
  const number = /^\d+$/.test(text) ? Number(text) : NaN
  if (number >= min && number <= max) return number
  throw invalid(flag, text, `it must be a whole number from ${min} to ${max}.`)
}

function readTls(mode: true | string | undefined): 'starttls' | 'implicit' | undefined {
  if (mode === true || mode === 'starttls') return 'starttls'
  if (mode === undefined || mode === 'implicit') return mode
  const closest = findClosest(mode, ['starttls', 'implicit'])
  throw invalid('tls', mode, closest ? `did you mean "${closest}"?` : 'it must be starttls or implicit.')
}

function readAuth(text: string | undefined): SinkOptions['auth'] {
  if (text === undefined) return undefined
  const colon = text.indexOf(':')
  // The value is not repeated: it may be a real password.
  if (colon < 1) throw new PostriderError('setting_invalid', '--auth must be written as user:pass.')
  return { user: text.slice(0, colon), pass: text.slice(colon + 1) }
}

/** What the machine refuses is nearly always a flag's fault, and is said about that flag. */
async function start(flags: Flags, options: SinkOptions): Promise<Sink> {
  try {
    return await startSink(options)
  } catch (error) {
    if (error instanceof ChaosSyntaxError) throw new PostriderError('setting_invalid', `--chaos: ${error.message}`)
    const { code, syscall, message } = error as NodeJS.ErrnoException
    if (code === 'EADDRINUSE') throw invalid('port', flags.port, 'another program listens there. 0 takes any free one.')
    if (code === 'EACCES' && syscall === 'listen') throw invalid('port', flags.port, 'only root may listen there.')
    if (syscall === 'listen' || syscall === 'getaddrinfo')
      throw invalid('host', flags.host, `one cannot listen there: ${message}.`, error)
    if (syscall === 'open') throw invalid('log', flags.log ?? '', `it cannot be written: ${message}.`, error)
    if (syscall === 'mkdir') throw invalid('keep', flags.keep ?? '', `it cannot be made: ${message}.`, error)
    throw error
  }
}

/** A second signal ends the process at once: whoever sends two does not want to wait for goodbyes. */
async function untilToldOrOver(durationMs: number | null): Promise<void> {
  const over = new AbortController()
  const timer = durationMs === null ? undefined : setTimeout(() => over.abort(), durationMs)
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.on(signal, () => (over.signal.aborted ? process.exit(1) : over.abort()))
  await once(over.signal, 'abort')
  clearTimeout(timer)
}
