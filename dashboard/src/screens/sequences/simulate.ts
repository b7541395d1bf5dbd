import { api, ask } from '../../api/client'
import type { Answer } from '../../api/types'

export type Simulation = Answer<'/api/campaigns/{id}/simulate'>

/** How long the server may take for one answer; it goes on between two of them. */
const WITHIN_MS = 80

/** Asks until the whole calendar is there: of a hundred thousand people that takes a while, and each request a moment. */
export async function simulate(
  id: string,
  query: { readonly days: number; readonly limit: number; readonly timezone?: string },
  { signal, onProgress }: { readonly signal: AbortSignal; readonly onProgress: (progress: number) => void },
): Promise<Simulation> {
  onProgress(0)
  for (;;) {
    const params = { path: { id }, query: { ...query, within_ms: WITHIN_MS } }
    const simulation = await ask(api.GET('/api/campaigns/{id}/simulate', { params, signal }))
    if (simulation.complete) return simulation
    onProgress(simulation.progress)
  }
}
