import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { openDashboard } from './browser.js'

const PICTURE = `<svg xmlns="http://www.w3.org/2000/svg" width="7" height="7"><rect width="7" height="7" fill="red"/></svg>`

describe('the inbox', () => {
  const dashboard = openDashboard()
  const base64 = (text: string) => Buffer.from(text).toString('base64')
  const send = (subject: string, extra: object = {}) =>
    dashboard.call('POST /api/emails', {
      json: { to: 'Ada <ada@example.com>', subject, html: `<p>Dear <b>Ada</b></p>`, ...extra },
    })

  it('says how to fill it, and shows what is captured as it comes', async () => {
    const page = await dashboard.open('/inbox')
    await page.getByText('Nothing was captured').waitFor()
    expect(await dashboard.findObstacles(page)).toEqual([])
    await send('Captured alive')
    await dashboard.drain()
    await page.getByRole('link', { name: 'Captured alive' }).waitFor()
    expect(await dashboard.findObstacles(page)).toEqual([])
  })

  it('shows a captured email in every form it has, also as wide as a phone', async () => {
    await send('Grüße', {
      html: '<p>Dear <b>Ada</b> <img src="cid:logo" alt="logo"></p>',
      headers: { 'X-Order': '17' },
      attachments: [
        { filename: 'März.txt', content: base64('in the file'), content_type: 'text/plain' },
        { filename: 'logo.svg', content: base64(PICTURE), content_type: 'image/svg+xml', content_id: 'logo' },
      ],
    })
    await dashboard.drain()
    const page = await dashboard.open('/inbox')
    await page.getByRole('link', { name: 'Grüße' }).click()
    const frame = page.frameLocator('iframe')
    await frame.getByText('Dear Ada').waitFor()
    // A picture that came with it is seen without asking anybody.
    await frame.locator('img[src^="data:image/svg+xml"]').waitFor()
    const wide = (await page.locator('iframe').boundingBox())!.width
    await page.getByRole('button', { name: 'As wide as a phone' }).click()
    expect((await page.locator('iframe').boundingBox())!.width).toBe(375)
    expect(wide).toBeGreaterThan(600)
    expect(await dashboard.findObstacles(page)).toEqual([])
    await page.getByRole('tab', { name: 'Text' }).click()
    await page.getByRole('tabpanel').getByText('Dear Ada').waitFor()
    await page.getByRole('tab', { name: /Headers/ }).click()
    await page.getByRole('tabpanel').getByText('X-Order').waitFor()
    await page.getByRole('tab', { name: 'Raw' }).click()
    await page.getByText(/^X-Order: 17/m).waitFor()
    await page.getByRole('tab', { name: 'Attachments (2)' }).click()
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'März.txt' }).click(),
    ])
    expect(file.suggestedFilename()).toBe('März.txt')
    expect(readFileSync(await file.path(), 'utf8')).toBe('in the file')
    await page.getByRole('link', { name: 'this email in the queue' }).click()
    await page.getByText('The next mail server accepted it.').waitFor()
  })

  it('is emptied by who may, once they are sure', async () => {
    for (const subject of ['One', 'Two']) await send(subject)
    await dashboard.drain()
    const viewer = await dashboard.open('/inbox', { role: 'viewer' })
    await viewer.getByRole('link', { name: 'One' }).waitFor()
    expect(await viewer.getByRole('button', { name: 'Empty the inbox' }).count()).toBe(0)
    const page = await dashboard.open('/inbox', { width: 390, height: 844 })
    await page.getByRole('button', { name: 'Empty the inbox' }).click()
    await page.getByRole('button', { name: 'Leave it' }).click()
    await page.getByRole('link', { name: 'One' }).waitFor()
    expect(await dashboard.findObstacles(page)).toEqual([])
    await page.getByRole('button', { name: 'Empty the inbox' }).click()
    await page.getByRole('button', { name: 'Delete all captured mail' }).click()
    await page.getByText('2 captured emails are gone.').waitFor()
    await page.getByText('Nothing was captured').waitFor()
    expect((await dashboard.call('GET /api/inbox')).body.data).toEqual([])
  })
})
