import { describe, expect, it } from 'vitest'
import { openDashboard } from './browser.js'

describe('senders', () => {
  const dashboard = openDashboard()

  it('get a pace that shows what it would yield before it is saved, and says what is wrong with it', async () => {
    const page = await dashboard.open('/senders')
    expect(await dashboard.findObstacles(page)).toEqual([])
    await page.locator('#main').getByRole('link').first().click()
    await page.getByLabel('Only at certain times, and only so many').check()
    await page.getByLabel('Timezone').fill('Mars/Olympus')
    await page.getByText('is not a timezone').first().waitFor()
    await page.getByLabel('Timezone').fill('Asia/Tokyo')
    await page.getByText('times in Asia/Tokyo').waitFor()
    await page.getByLabel('From').fill('08:30')
    await page.getByLabel('Until').fill('12:00')
    await page.getByLabel('At most a day').fill('25')
    const days = page.getByRole('row', { name: /08:30–12:00/ })
    await expect.poll(() => days.count()).toBe(7)
    await expect.poll(() => days.last().innerText()).toMatch(/25\s+25/)
    expect(await dashboard.findObstacles(page)).toEqual([])
    await page.getByRole('button', { name: 'Save pace' }).click()
    await page.getByText('The pace is saved.').waitFor()
    const { body } = await dashboard.call('GET /api/settings/sending')
    expect(body).toMatchObject({ timezone: 'Asia/Tokyo', start_hour: '08:30', end_hour: 12, daily_quota: 25 })
  })

  it('are made, tested, paused with a reason, resumed and removed', async () => {
    const page = await dashboard.open('/senders')
    await page.getByRole('button', { name: 'New sender' }).click()
    await page.getByLabel('Address').fill('not an address')
    await page.getByRole('button', { name: 'Make sender' }).click()
    await page.getByText('must be one address').first().waitFor()
    await page.getByLabel('Address').fill('Ada <ada@example.com>')
    await page.getByLabel('Provider').selectOption('capture')
    await page.getByRole('button', { name: 'Make sender' }).click()
    await page.getByRole('heading', { level: 1, name: 'Ada' }).waitFor()
    await page.getByRole('button', { name: 'Test' }).click()
    await page.getByText('It works').waitFor()
    expect(await dashboard.findObstacles(page)).toEqual([])
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click()
    await page.getByRole('button', { name: 'Pause' }).click()
    await page.getByLabel('Reason, for whoever looks next').fill('The domain moves')
    await page.getByRole('dialog').getByRole('button', { name: 'Pause' }).click()
    await page.getByText('The domain moves').waitFor()
    await page.getByRole('button', { name: 'Resume' }).click()
    await page.getByText('The domain moves').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Remove' }).click()
    await page.getByRole('button', { name: 'Remove sender' }).click()
    await page.getByRole('heading', { level: 1, name: 'Senders' }).waitFor()
    const { body } = await dashboard.call('GET /api/admin/audit')
    const summaries = (body.data as { actor: string; summary: string }[])
      .filter(({ actor }) => actor === 'olga')
      .map(({ summary }) => summary)
    expect(summaries).toEqual([
      'Remove a sender',
      'Resume a sender',
      'Pause a sender',
      'Connect and log in as a sender would',
      'Make a sender',
      'Make a sender',
    ])
  })
})
