import { countAttempts } from '../../src/engine/counter.js'
import type { Postrider } from '../../src/index.js'
import { call, draftCampaign, fillList, launchCampaign } from '../campaign/campaign-ground.js'
import { fillCampaign, fillSingle } from './fill-emails.js'
import { EMAILS_EACH, fillWalks, type Walks } from './fill-walks.js'

/** Everything a dashboard shows, at a size nobody has on their first day. */
export interface Ground {
  readonly list: string
  readonly running: string
  readonly large: string
  /** A bulk campaign for the whole list that was not launched. */
  readonly draft: string
  readonly walks: Walks
}

/** Of the emails: two campaigns, of which one is under way, and a sequence. The others are single. */
const PARTS = { running: 0.1, large: 0.3, walks: 0.3 } as const

export async function prepareGround(postrider: Postrider, emails: number, hours: number): Promise<Ground> {
  const { db } = postrider.context
  const [small, large] = [Math.round(emails * PARTS.running), Math.round(emails * PARTS.large)]
  const people = Math.round((emails * PARTS.walks) / EMAILS_EACH)
  const list = await fillList(postrider, large)
  const enrolled = await fillList(postrider, people, 1)
  const campaigns = []
  for (const batchSize of [500, 501]) {
    const draft = await draftCampaign(postrider, list, batchSize)
    await launchCampaign(postrider, draft)
    campaigns.push(draft.id)
  }
  const draft = await draftCampaign(postrider, list, 502)
  await fillSingle(db, { emails: emails - small - large - people * EMAILS_EACH, hours })
  await fillCampaign(db, campaigns[0]!, { emails: small, hours })
  await fillCampaign(db, campaigns[1]!, { emails: large, hours })
  const walks = await fillWalks(postrider, { enrolled, people, other: list })
  for (let i = 0; i < 5; i++)
    await call(postrider, 'POST', '/senders', { address: `sender${i}@example.com`, provider: 'capture' })
  // As a worker has done by then, minute by minute.
  await countAttempts(db)
  await db.query('vacuum analyze')
  return { list, running: campaigns[0]!, large: campaigns[1]!, draft: draft.id, walks }
}
