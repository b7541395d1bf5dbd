import { describe, expect, it } from 'vitest'
import { DATABASE_KINDS } from '../support/test-database.js'
import { openApi } from './api-fixture.js'
import { openCampaignWorld } from './campaign-world.js'

describe.each(DATABASE_KINDS)('what failed of a campaign, by HTTP, on %s', (kind) => {
  const api = openApi(kind)
  const { post, get, draft, emails } = openCampaignWorld(api)
  const reasonsOf = (groups: { reason_code: string; emails: number; reasons: { text: string; emails: number }[] }[]) =>
    groups.map(({ reason_code, emails, reasons }) => [
      reason_code,
      emails,
      ...reasons.map(({ text, emails: count }) => [count, text]),
    ])

  it('is told once for all that failed for the same reason, whomever the server named', async () => {
    const campaign = await draft(['ada', 'bob', 'cyd', 'dan', 'eve'])
    let left = 4
    api.server.script = (at) =>
      at === 'rcpt' && left-- > 0
        ? { do: 'reply', text: `554 5.6.0 <somebody${left}@example.com>: not that, id 4X9sV71kZ${left}` }
        : undefined
    expect(await get(`campaigns/${campaign.id}/failures`)).toMatchObject({ emails: 0, truncated: false, groups: [] })
    await post(`campaigns/${campaign.id}/launch`)
    await api.drain()
    const found = await get(`campaigns/${campaign.id}/failures`)
    expect(found).toMatchObject({ object: 'campaign_failures', id: campaign.id, emails: 4, truncated: false })
    expect(reasonsOf(found.groups)).toEqual([['message', 4, [4, '5.6.0 <…>: not that, id … (rcpt)']]])
    const [group] = found.groups
    const failed = await emails(campaign.id, '&status=failed&reason_code=message')
    expect(
      failed
        .map(({ id }) => id)
        .toSorted()
        .at(-1),
    ).toBe(group.reasons[0].email_id)
    expect(failed).toHaveLength(4)
    expect(await emails(campaign.id, '&status=failed&reason_code=recipient')).toEqual([])

    await post(`campaigns/${campaign.id}/retry`)
    await api.drain()
    expect((await get(`campaigns/${campaign.id}/failures`)).groups).toEqual([])
  })

  it('stands by what kind of failure it was, the most frequent first', async () => {
    const campaign = await draft(['ada', 'bob', 'cyd'])
    let left = 3
    api.server.script = (at) =>
      at === 'rcpt' && left-- > 0
        ? { do: 'reply', text: left === 1 ? '550 5.1.1 no such user' : '552 5.3.4 too large' }
        : undefined
    await post(`campaigns/${campaign.id}/launch`)
    await api.drain()
    const { groups } = await get(`campaigns/${campaign.id}/failures`)
    expect(reasonsOf(groups).map(([code, count]) => [code, count])).toEqual([
      ['message', 2],
      ['recipient', 1],
    ])
    const single = await post('emails', { to: 'x@example.com', subject: 'Hi', text: 'Hi' })
    await api.force(single.id, 'failed')
    expect((await get('emails?reason_code=test')).data).toMatchObject([{ id: single.id }])
    expect((await get('emails?reason_code=message')).data).toHaveLength(2)
  })
})
