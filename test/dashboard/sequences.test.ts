import { describe, expect, it } from 'vitest'
import { openDashboard } from './browser.js'

describe('sequences', () => {
  const dashboard = openDashboard({ working: true, random: () => 0 })
  const post = async (path: string, json: object = {}) => {
    const { status, body } = await dashboard.call(`POST /api/${path}`, { json })
    expect([path, status < 300 ? 'ok' : body]).toEqual([path, 'ok'])
    return body as { id: string } & Record<string, unknown>
  }

  it('are all listed, and each with its campaigns, however many others there are', async () => {
    const template = await post('templates', { name: 'Hello', subject: 'Hello', text: 'Hello' })
    const list = await post('lists', { name: 'People' })
    const steps = [{ template: template.id }]
    const oldest = await post('sequences', { name: 'The oldest', steps })
    await post('campaigns', { name: 'Its campaign', list_id: list.id, sequence_id: oldest.id })
    const others = Array.from({ length: 101 }, (_, nth) => nth)
    const news = { list_id: list.id, template_id: template.id }
    await Promise.all(others.map((nth) => post('sequences', { name: `Another ${nth}`, steps })))
    await Promise.all(others.map((nth) => post('campaigns', { name: `News ${nth}`, ...news })))
    const page = await dashboard.open('/sequences')
    await page.getByRole('link', { name: 'The oldest' }).click()
    await page.getByLabel('Campaign').getByText('Its campaign (draft)').waitFor({ state: 'attached' })
  })

  it('are written as steps and as a graph, walked, and left by whoever replies', { timeout: 240_000 }, async () => {
    await post('templates', { name: 'Welcome', subject: 'Hello {{ contact.name }}', text: 'Hello {{ contact.name }}' })
    await post('templates', { name: 'Reminder', subject: 'Still there?', text: 'Hello again {{ contact.name }}' })
    // Everybody at once, instead of half a minute apart.
    await dashboard.call('PUT /api/settings/sending', { json: { gap_min_seconds: 0, gap_max_seconds: 0 } })
    const page = await dashboard.open('/sequences')
    await page.getByText('No sequence yet').waitFor()
    await page.getByRole('button', { name: 'New sequence' }).click()
    await page.getByLabel('Name', { exact: true }).fill('Onboarding')
    await page
      .getByRole('listitem')
      .filter({ hasText: 'Email 1' })
      .getByLabel('Template')
      .selectOption({ label: 'Welcome' })
    await page.getByRole('button', { name: 'Another email' }).click()
    await page
      .getByRole('listitem')
      .filter({ hasText: 'Email 2' })
      .getByLabel('Template')
      .selectOption({ label: 'Reminder' })
    await page.getByLabel('days').fill('')
    await page.getByText('1 to put right').waitFor()
    await page.getByLabel('days').fill('2')
    await page.getByText('can be walked').waitFor()
    expect(await dashboard.findObstacles(page)).toEqual([])
    await page.getByRole('tab', { name: 'As a graph' }).click()
    await page.getByRole('button', { name: /^Email step-2/ }).click()
    await page.getByLabel('Another node').selectOption({ label: 'Wait for' })
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    await page.getByLabel('Event').fill('clicked')
    await page.getByText('can be walked').waitFor()
    expect(await dashboard.findObstacles(page)).toEqual([])
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('heading', { level: 1, name: 'Onboarding' }).waitFor()

    const sequenceId = new URL(page.url()).pathname.split('/').at(-1)!
    const list = await post('lists', { name: 'People' })
    const contacts = ['Ada', 'Grace'].map((name) => ({ email: `${name.toLowerCase()}@example.com`, name }))
    await post(`lists/${list.id}/contacts`, { contacts })
    const campaign = await post('campaigns', { name: 'Spring', list_id: list.id, sequence_id: sequenceId })
    await page.goto(`/admin/calendar?campaign=${campaign.id}`)
    await page.getByRole('heading', { name: '4 emails in 14 days' }).waitFor()
    expect(await dashboard.findObstacles(page)).toEqual([])
    await post(`campaigns/${campaign.id}/launch`)

    await page.goto(`/admin/sequences/${sequenceId}`)
    await page.getByText('2 sent').waitFor()
    await page.getByText('2 get it next').waitFor()
    await page
      .getByText(/^before /)
      .first()
      .waitFor()
    expect(await dashboard.findObstacles(page)).toEqual([])
    await post('events/send', { event: 'replied', email: 'ada@example.com' })
    await page.getByText('1 stopped on the way').waitFor()
    await page.getByLabel('Show').selectOption('stopped')
    await page.getByText('The contact replied.').waitFor()
    await page.getByLabel('Show').selectOption('active')
    await page.getByRole('link', { name: 'grace@example.com' }).click()
    await page.getByRole('heading', { level: 1, name: 'Grace in Onboarding' }).waitFor()
    await page.getByRole('button', { name: 'Pause' }).click()
    await page.getByRole('button', { name: 'Resume' }).click()
    await page.getByRole('button', { name: 'Pause' }).waitFor()
    expect(await dashboard.findObstacles(page)).toEqual([])
    await page.getByRole('button', { name: 'Stop for good' }).click()
    await page.getByRole('button', { name: 'Stop walk' }).click()
    await page.getByText('It stopped').waitFor()
    const grace = await dashboard.call('GET /api/contacts?q=grace')
    await page.goto(`/admin/contacts/${grace.body.data[0].id}`)
    await page.getByRole('link', { name: 'Onboarding' }).waitFor()
  })
})
