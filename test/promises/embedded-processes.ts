/** Starts the other process of the embedded database's tests and reads what it says. */
import { spawn, type ChildProcessByStdio } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { inject } from 'vitest'
import { buildPackage } from '../support/build-package.js'
import { QUICK_START } from '../support/quick-start.js'
import { copyEmbeddedTemplate } from '../support/services/embedded-template.js'

const PROGRAM = (await buildPackage()).program('test/promises/embedded-child.ts')

export interface OtherProcess {
  readonly pid: number
  readonly said: readonly Record<string, unknown>[]
  /** Resolves with the first event that has this key; rejects when the process ends without it. */
  hears(key: string): Promise<Record<string, unknown>>
  onEvent(listener: (event: Record<string, unknown>) => void): void
  kill(): Promise<void>
  readonly exit: Promise<number | null>
}

export function startOther(role: string, directory: string, argument = ''): OtherProcess {
  const child: ChildProcessByStdio<null, Readable, Readable> = spawn(
    process.execPath,
    [QUICK_START, PROGRAM, role, directory, argument],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  )
  let complaint = ''
  child.stderr.on('data', (text) => (complaint += text))
  const said: Record<string, unknown>[] = []
  const listeners = new Set<(event: Record<string, unknown>) => void>()
  const lines = createInterface({ input: child.stdout })
  lines.on('line', (line) => {
    // kill -9 may cut the last line short.
    const event = parse(line)
    if (!event) return
    said.push(event)
    for (const listener of listeners) listener(event)
  })
  const exit = once(child, 'exit').then(([code]) => code as number | null)
  const drained = once(lines, 'close')
  return {
    pid: child.pid!,
    said,
    exit,
    onEvent: (listener) => void listeners.add(listener),
    hears: (key) =>
      new Promise((resolve, reject) => {
        const early = said.find((event) => key in event)
        if (early) return resolve(early)
        listeners.add((event) => key in event && resolve(event))
        void drained.then(() => reject(new Error(`process ended without saying "${key}": ${complaint}`)))
      }),
    kill: async () => {
      child.kill('SIGKILL')
      await Promise.all([exit, drained])
    },
  }
}

function parse(line: string): Record<string, unknown> | null {
  try {
    return JSON.parse(line) as Record<string, unknown>
  } catch {
    return null
  }
}

export function temporaryDirectory(): { path: string; remove: () => void } {
  const path = mkdtempSync(join(tmpdir(), 'postrider-embedded-'))
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) }
}

/** One in which a database was made before: the first start takes seconds, and most tests are not about it. */
export function usedDirectory(): { path: string; remove: () => void } {
  const { directory, remove } = copyEmbeddedTemplate(inject('embeddedTemplate'))
  return { path: directory, remove }
}
