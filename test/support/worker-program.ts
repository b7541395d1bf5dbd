/**
 * A worker in a process of its own, for tests that kill, stop and freeze it. Started by worker-process.ts with its
 * settings as one JSON argument; compiled by build-package.ts so that it starts quickly.
 *
 * It performs two kinds of actions. An effect inserts one row into `public.effects`, which has no unique key: two rows
 * are two effects. A hand-over writes one line into a file, which is the outside world here: no transaction reaches it,
 * nothing takes the line back, and it stays when this process is killed.
 */
import { appendFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { runUntilSignal } from '../../src/cli/run-until-signal.js'
import { createPostrider, type HandlerOutcome, type LeasedAction } from '../../src/index.js'
import { createLog } from '../../src/log.js'
import { seededRandom } from './seeded-random.js'

export interface WorkerSettings {
  readonly location: { readonly databaseUrl: string } | { readonly dataDirectory: string }
  readonly attach?: boolean
  readonly leaseMs: number
  readonly sweepMs: number
  readonly concurrency: number
  readonly maxConnections?: number
  /** The types it has handlers for; the others are somebody else's. */
  readonly effectType: string
  readonly handOverType: string
  readonly outside: string
  /** How long each phase of a handler takes at the most. */
  readonly slowMs: number
  readonly seed: number
  /** Wait at the gate an action names in its payload, until the parent opens it. */
  readonly gated?: boolean
}

export type Gate = 'in effect' | 'before arm' | 'armed'

export type FromWorker = { readonly ready: true } | { readonly gate: Gate; readonly action: string }

const settings = JSON.parse(process.argv[2]!) as WorkerSettings
const random = seededRandom(settings.seed)
const say = (message: FromWorker) => process.send!(message)
// Whatever ends the test ends its workers.
process.once('disconnect', () => process.exit(99))

const gates = new Map<string, () => void>()
process.on('message', ({ open }: { open: string }) => gates.get(open)?.())

async function pass(gate: Gate, action: LeasedAction): Promise<void> {
  if (!settings.gated || (action.payload as { gate?: Gate }).gate !== gate) {
    await sleep(random.next() * settings.slowMs)
    return
  }
  await new Promise<void>((resolve) => {
    gates.set(action.id, resolve)
    say({ gate, action: action.id })
  })
}

const postrider = await createPostrider({
  ...settings.location,
  attach: settings.attach ?? false,
  migrate: false,
  leaseMs: settings.leaseMs,
  sweepMs: settings.sweepMs,
  concurrency: settings.concurrency,
  ...(settings.maxConnections !== undefined && { maxConnections: settings.maxConnections }),
  log: createLog('info'),
  handlers: {
    [settings.effectType]: {
      kind: 'effect',
      retryPolicy: 'standard',
      async apply(action, tx) {
        await tx.query('insert into public.effects (action_id) values ($1)', [action.id])
        await pass('in effect', action)
      },
    },
    [settings.handOverType]: {
      kind: 'hand-over',
      retryPolicy: 'standard',
      async handOver(action, grip): Promise<HandlerOutcome> {
        await pass('before arm', action)
        if (!(await grip.arm())) return { kind: 'release' }
        await pass('armed', action)
        if (!grip.holds()) return { kind: 'release' }
        appendFileSync(settings.outside, `${action.id} ${action.leaseToken} ${process.pid}\n`)
        await sleep(random.next() * settings.slowMs)
        return { kind: 'done' }
      },
    },
  },
})
await postrider.start()
await runUntilSignal(
  () => say({ ready: true }),
  () => postrider.stop(),
  createLog('info'),
)
// The channel to the parent would keep this process alive.
process.removeAllListeners('disconnect')
process.disconnect()
