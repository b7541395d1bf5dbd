import type * as ServeModule from '../../src/http/serve.js'
import { openPostrider, type Place } from './open-postrider.js'
import type { Stage } from './role.js'

/** The HTTP API in a process of its own, without workers: nothing but accepting. */
export async function runServer(
  { place, apiKey }: { place: Place; apiKey: string },
  { ready, stopped, watch }: Stage<{ url: string }>,
): Promise<{ cpuSeconds: number; rssPeakMb: number }> {
  const { serve } = (await import(`${place.postriderUrl}http/serve.js`)) as typeof ServeModule
  // What is measured is how fast it can answer, not how fast it lets one key ask.
  const postrider = await openPostrider(place, { apiKey, rateLimit: 1_000_000_000 })
  const serving = await serve(postrider, { host: '127.0.0.1', port: 0 })
  const unwatch = await watch()
  const cpuBefore = process.cpuUsage()
  ready({ url: serving.url })
  await stopped
  const cpu = process.cpuUsage(cpuBefore)
  await unwatch()
  await serving.close()
  await postrider.stop()
  return { cpuSeconds: (cpu.user + cpu.system) / 1e6, rssPeakMb: process.resourceUsage().maxRSS / 1_024 }
}
