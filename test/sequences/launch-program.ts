/**
 * A Postrider in a process of its own that launches campaigns when it is told to, by its API, and works when it is told
 * to. Started by launch-process.ts with its settings as one JSON argument.
 */
import { createPostrider, RETRY_POLICIES, type RetryPolicy } from '../../src/index.js'
import { createLog } from '../../src/log.js'

export interface LaunchSettings {
  readonly location: { readonly databaseUrl: string } | { readonly dataDirectory: string }
  readonly now: string
  readonly seed: number
  /** It dies, as by kill -9, when it draws its n-th gap: in the middle of a page, with nothing of it committed. */
  readonly dieAtDraw?: number
  /** How long it tries, instead of as usual. */
  readonly outreach?: RetryPolicy
}

export type ToLauncher =
  | { readonly id: number; readonly ask: 'post'; readonly path: string; readonly body: unknown }
  | { readonly id: number; readonly ask: 'tick' }

export interface FromLauncher {
  /** 0: it is ready. */
  readonly id: number
  readonly status?: number
  readonly body?: unknown
}

const API_KEY = 'pk_a_key_of_the_launchers'
const settings = JSON.parse(process.argv[2]!) as LaunchSettings
// Whatever ends the test ends its processes.
process.once('disconnect', () => process.exit(99))

let draws = 0
let state = settings.seed >>> 0
const random = () => {
  if (++draws === settings.dieAtDraw) process.kill(process.pid, 'SIGKILL')
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
  return state / 2 ** 32
}
const postrider = await createPostrider({
  ...settings.location,
  attach: true,
  migrate: false,
  now: settings.now,
  secret: 'a secret of the tests',
  mailFrom: { name: 'Tests', address: 'tests@sender.test' },
  apiKey: API_KEY,
  rateLimit: 1_000_000,
  random,
  ...(settings.outreach && { retryPolicies: { ...RETRY_POLICIES, outreach: settings.outreach } }),
  log: createLog('warn'),
})
const say = (message: FromLauncher) => process.send!(message)
process.on('message', (asked: ToLauncher) => void answer(asked))

async function answer(asked: ToLauncher): Promise<void> {
  if (asked.ask === 'tick') {
    await postrider.tick(20_000)
    return void say({ id: asked.id })
  }
  const response = await postrider.fetch(
    new Request(`http://launcher.test${asked.path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify(asked.body),
    }),
  )
  say({ id: asked.id, status: response.status, body: await response.json() })
}

say({ id: 0 })
await new Promise((resolve) => process.once('SIGTERM', resolve))
await postrider.stop()
// The channel to the parent would keep this process alive.
process.removeAllListeners('disconnect')
process.disconnect()
