/**
 * Runs one command of the command line after the other in one process, for tests of what commands do. A process for
 * each takes a second before its first line. Started by run-cli.ts with the entry file and how many
 * milliseconds a command may take to end as its arguments.
 *
 * What a process of its own would show is shown here as well: each command gets its own arguments, environment and
 * streams, and it has to come to its end by itself, with nothing left that would keep a process alive.
 */
import { randomUUID } from 'node:crypto'
import { Readable, Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'

export interface ToHost {
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly input: string
}

export interface FromHost {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
  /** What would have kept its process from ending. */
  readonly left: readonly string[]
}

const [node, , entry, patience] = process.argv as [string, string, string, string]

class Heard extends Writable {
  text = ''
  override _write(chunk: Buffer, _encoding: BufferEncoding, heard: () => void): void {
    this.text += chunk.toString('utf8')
    heard()
  }
}

process.on('message', ({ args, env, input }: ToHost) => void run(args, env, input).then((said) => process.send!(said)))

async function run(args: ToHost['args'], env: ToHost['env'], input: string): Promise<FromHost> {
  const [stdout, stderr] = [new Heard(), new Heard()]
  const streams = { stdin: Readable.from([Buffer.from(input)]), stdout, stderr }
  for (const [name, value] of Object.entries(streams))
    Object.defineProperty(process, name, { value, configurable: true, enumerable: true })
  for (const name of Object.keys(process.env)) delete process.env[name]
  Object.assign(process.env, env)
  process.argv = [node, entry, ...args]
  process.exitCode = undefined
  const before = countActive()
  // The entry file runs the command it finds in its arguments. Another name each time, or it would run only once.
  await import(`${pathToFileURL(entry).href}?command=${randomUUID()}`)
  const left = await untilQuiet(before)
  // oxlint-disable-next-line typescript/no-unnecessary-type-conversion
  return { code: Number(process.exitCode ?? 0), stdout: stdout.text, stderr: stderr.text, left }
}

/** What keeps this process alive, by kind. */
function countActive(): Map<string, number> {
  const counts = new Map<string, number>()
  for (const kind of process.getActiveResourcesInfo()) counts.set(kind, (counts.get(kind) ?? 0) + 1)
  return counts
}

async function untilQuiet(before: ReadonlyMap<string, number>): Promise<string[]> {
  for (const deadline = performance.now() + Number(patience); ; await sleep(2)) {
    const left = [...countActive()].filter(([kind, count]) => count > (before.get(kind) ?? 0)).map(([kind]) => kind)
    if (left.length === 0 || performance.now() > deadline) return left
  }
}
