import { setTimeout as sleep } from 'node:timers/promises'
import type { Place } from '../delivery/open-postrider.js'
import type { Stage } from '../delivery/role.js'
import { call, draftCampaign, fillList, launchCampaign } from './campaign-ground.js'
import { openWithProvider, type ProviderName } from './null-provider.js'

/** Plans and sends a whole campaign in one process, as `postrider start` does, and watches that process's memory. */
export interface SendTask {
  readonly place: Place
  readonly contacts: number
  readonly provider: ProviderName
}

export interface Sending {
  readonly seconds: number
  readonly perSecond: number
  /** Of the process once it works and has nothing to do. */
  readonly idleRssMb: number
  readonly peakRssMb: number
  readonly endRssMb: number
  readonly peakHeapMb: number
}

const IDLE_MS = 3_000
const SAMPLE_MS = 100
const ASK_MS = 500
const toMb = (bytes: number) => bytes / 2 ** 20

export async function sendCampaign(task: SendTask, { watch }: Stage<null>): Promise<Sending> {
  const { place, contacts, provider } = task
  const postrider = await openWithProvider(place, provider)
  const list = await fillList(postrider, contacts)
  const draft = await draftCampaign(postrider, list, 500)
  await postrider.start()
  await sleep(IDLE_MS)
  const idleRssMb = toMb(process.memoryUsage().rss)
  let [peakRssMb, peakHeapMb] = [0, 0]
  const timer = setInterval(() => {
    const { rss, heapUsed } = process.memoryUsage()
    peakRssMb = Math.max(peakRssMb, toMb(rss))
    peakHeapMb = Math.max(peakHeapMb, toMb(heapUsed))
  }, SAMPLE_MS)
  const unwatch = await watch()
  const from = performance.now()
  await launchCampaign(postrider, draft)
  for (;;) {
    const { status } = await call<{ status: string }>(postrider, 'GET', `/campaigns/${draft.id}`)
    if (status === 'sent') break
    await sleep(ASK_MS)
  }
  const seconds = (performance.now() - from) / 1_000
  clearInterval(timer)
  await unwatch()
  const endRssMb = toMb(process.memoryUsage().rss)
  const { counts } = await call<{ counts: Record<string, number> }>(postrider, 'GET', `/campaigns/${draft.id}/schedule`)
  if (counts['sent'] !== contacts) throw new Error(`Of ${contacts} not all were sent: ${JSON.stringify(counts)}.`)
  await postrider.stop()
  return { seconds, perSecond: contacts / seconds, idleRssMb, peakRssMb, endRssMb, peakHeapMb }
}
