import type { Postrider } from '../../src/index.js'
import { call } from '../campaign/campaign-ground.js'
import type { Ground } from './ground.js'
import { createStopwatch, type Timed } from './time-requests.js'

/** What somebody decides about many emails at once, as the dashboard asks for it: request by request. */
const DONE = 5_000
/** While the host was never quiet for as long as a request. */
const MOST_DONE = 20_000
const TOGETHER = 250
/** Counted so often at the most until the host took nothing meanwhile. */
const PATIENCE = 10
/** As many as the dashboard counts at the most. */
const MOST = 100_000

interface Page {
  readonly ids: readonly string[]
  readonly next: string | null
}

/** Counts all that match, and then does it to some of them. It comes last: the ground is another one after it. */
export async function measureDeeds(postrider: Postrider, { large, walks }: Ground): Promise<Timed[]> {
  const later = { scheduled_at: new Date(Date.now() + 30 * 86_400_000).toISOString() }
  const deeds = [
    { what: 'retry', filter: {} },
    { what: 'retry', filter: { q: 'nothinglikethis' } },
    { what: 'dismiss', filter: { campaign_id: large } },
    { what: 'resolve', filter: {}, more: { outcome: 'sent' } },
    { what: 'reschedule', filter: { campaign_id: walks.campaign }, more: later },
    { what: 'cancel', filter: {} },
    { what: 'cancel', filter: { campaign_id: walks.campaign } },
  ]
  const found: Timed[] = []
  for (const { what, filter, more } of deeds) {
    const path = `/admin/outbox/${what}`
    const about = `POST ${path} ${JSON.stringify(filter)}`
    const counting = createStopwatch(`${about}, counting`)
    const ids: string[] = []
    const count = async () => {
      ids.length = 0
      for (let after: string | null | undefined; after !== null && ids.length < MOST;) {
        const asked = { ...more, filter, dry_run: true, within_ms: 60, ...(after && { after }) }
        const page: Page = await counting.time(() => call<Page>(postrider, 'POST', path, asked))
        ids.push(...page.ids)
        after = page.next
      }
    }
    for (let i = 0; i === 0 || (!counting.wasUndisturbed && i < PATIENCE); i++) await count()
    found.push(counting.read())
    const doing = createStopwatch(`${about}, ${TOGETHER} at a time`)
    const some = ids.slice(0, MOST_DONE)
    let deed: string | undefined
    const wantsMore = (done: number) => done < DONE || !doing.wasUndisturbed
    for (let from = 0; from < some.length && wantsMore(from); from += TOGETHER) {
      const part = { ...more, ids: some.slice(from, from + TOGETHER), in_all: some.length, ...(deed && { deed }) }
      const answer = await doing.time(() => call<{ deed: string }>(postrider, 'POST', path, part))
      deed = answer.deed
    }
    if (some.length > 0) found.push(doing.read())
  }
  return found
}
