import { setTimeout as sleep } from 'node:timers/promises'

/** Asks again and again until the answer is there; says what never came. */
export async function until<T>(
  what: string,
  ask: () => Promise<T | null | undefined | false> | T | null | undefined | false,
  { withinMs = 60_000, everyMs = 25 }: { withinMs?: number; everyMs?: number } = {},
): Promise<T> {
  const deadline = performance.now() + withinMs
  for (;;) {
    const answer = await ask()
    if (answer !== null && answer !== undefined && answer !== false) return answer
    if (performance.now() > deadline) throw new Error(`did not happen within ${withinMs} ms: ${what}`)
    await sleep(everyMs)
  }
}
