import { plainError } from '../test/support/services/plain-error.js'

/** `npm run bench -- <name> [options]`. Each benchmark prints a table, then writes what it saw to bench/results. */
const benchmarks: Readonly<Record<string, () => Promise<{ run(args: string[]): Promise<void> }>>> = {
  kernel: () => import('./kernel.js'),
  'claim-cost': () => import('./claim-cost.js'),
  delivery: () => import('./delivery.js'),
  campaign: () => import('./campaign.js'),
  brokers: () => import('./brokers.js'),
  simulate: () => import('./simulate.js'),
  dashboard: () => import('./dashboard.js'),
}

const [name = '', ...args] = process.argv.slice(2)
const load = benchmarks[name]
if (!load) throw plainError(`Which benchmark? One of ${Object.keys(benchmarks).join(', ')}.`)
await (await load()).run(args)
