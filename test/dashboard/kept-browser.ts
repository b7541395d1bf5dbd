import { type Browser, chromium } from 'playwright-core'
import { openForGood } from '../support/find-leaks.js'
import { chromiumProgram } from '../support/services/chromium.js'
import { requireProgram } from '../support/services/required-program.js'
import { Strangers } from './strangers.js'

/** A process has one browser for all its files, in turn: starting one costs more than many a test that looks at a page. */
export interface KeptBrowser {
  readonly browser: Browser
  /** Whom it finds wherever it looks, but on this machine and under ITS_OWN. */
  readonly strangers: Strangers
}

const ARGUMENTS = [
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
]
/**
 * Whom the browser asks on its own account, whatever it is told: for a dictionary when somebody types, for lists and for
 * news of itself. They are nowhere to be found, and a page that asks them is told on by who watches it.
 */
export const ITS_OWN = [
  'google.com',
  'googleapis.com',
  'gstatic.com',
  'gvt1.com',
  'gvt2.com',
  'googleusercontent.com',
  'chromium.org',
]

const hostRules = (strangersPort: number) =>
  [
    ...ITS_OWN.flatMap((host) => [`MAP ${host} ~NOTFOUND`, `MAP *.${host} ~NOTFOUND`]),
    `MAP * 127.0.0.1:${strangersPort}`,
    'EXCLUDE 127.0.0.1',
  ].join(', ')

let kept: Promise<KeptBrowser> | undefined

export async function takeBrowser(): Promise<KeptBrowser> {
  const before = await kept
  // One that has crashed has failed its own file, and need not fail the next.
  if (!before?.browser.isConnected()) kept = openForGood(startBrowser)
  const { browser, strangers } = await kept!
  // What a page of somebody before still asked for is not ours to answer for.
  strangers.takeHeard()
  return { browser, strangers }
}

/** It ends with the process: the pipe it is steered by is closed then, however the process ends. */
async function startBrowser(): Promise<KeptBrowser> {
  const executablePath = await requireProgram(chromiumProgram)
  const strangers = await Strangers.start()
  const args = [...ARGUMENTS, `--host-resolver-rules=${hostRules(strangers.port)}`]
  return { browser: await chromium.launch({ executablePath, args, chromiumSandbox: false }), strangers }
}
