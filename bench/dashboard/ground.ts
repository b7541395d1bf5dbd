import { countMinutes } from '../../src/engine/counter.js'
import type { Postrider } from '../../src/index.js'
import { call, draftCampaign, fillList, launchCampaign } from '../campaign/campaign-ground.js'
import { fillCampaign, fillSingle } from './fill-emails.js'

/** Everything a dashboard shows, at a size nobody has on their first day. */
export interface Ground {
  readonly list: string
  readonly running: string
  readonly large: string
}

export async function prepareGround(postrider: Postrider, emails: number, hours: number): Promise<Ground> {
  const { db } = postrider.context
  const [small, large] = [Math.round(emails * 0.1), Math.round(emails * 0.3)]
  const list = await fillList(postrider, large)
  const campaigns = []
  for (const batchSize of [500, 501]) {
    const draft = await draftCampaign(postrider, list, batchSize)
    await launchCampaign(postrider, draft)
    campaigns.push(draft.id)
  }
  await fillSingle(db, { emails: emails - small - large, hours })
  await fillCampaign(db, campaigns[0]!, { emails: small, hours })
  await fillCampaign(db, campaigns[1]!, { emails: large, hours })
  for (let i = 0; i < 5; i++)
    await call(postrider, 'POST', '/senders', { address: `sender${i}@example.com`, provider: 'capture' })
  // As a worker has done by then, minute by minute.
  await countMinutes(db)
  await db.query('vacuum analyze')
  return { list, running: campaigns[0]!, large: campaigns[1]! }
}
