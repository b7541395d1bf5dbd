import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { openDashboard } from './browser.js'
import { expectNothingRan, HOSTILE, HOSTILE_HTML, isRefusal } from './hostile.js'

/** Looks at every form an email has. */
async function openEveryTab(page: Page, check: () => Promise<void>): Promise<void> {
  const tabs = page.getByRole('tab')
  await tabs.first().waitFor()
  for (const tab of await tabs.all()) {
    await tab.click()
    await page.getByRole('tabpanel').waitFor()
    await check()
  }
}

/** What is safe in a header: no line breaks, and nothing the API refuses. */
const forHeader = (text: string) => text.replaceAll(/[^\x20-\x7e]/g, '')

const forFile = (text: string) => text.replaceAll(/[/\\\p{C}]/gu, '_')

describe('what somebody else wrote into an email', () => {
  const dashboard = openDashboard({ sending: true, harmless: isRefusal })

  it('is read and never run, in the queue and in every part of an email', async () => {
    // The words of a mail server are somebody else's, too.
    let said = 0
    dashboard.server.script = (point) =>
      point === 'dot' ? { do: 'reply', text: `554 5.7.1 ${forHeader(HOSTILE[said++ % HOSTILE.length]!)}` } : undefined
    const ids: string[] = []
    for (const [i, text] of HOSTILE.entries()) {
      const { body } = await dashboard.call('POST /api/emails', {
        json: {
          to: `${JSON.stringify(text)} <ada${i}@example.com>`,
          subject: text,
          html: `${HOSTILE_HTML}${text}`,
          text,
          headers: { 'X-Hostile': forHeader(text) },
          tags: [{ name: `tag${i}`, value: `value${i}` }],
          attachments: [{ filename: `${forFile(text)}.html`, content: Buffer.from(HOSTILE_HTML).toString('base64') }],
        },
      })
      expect(body.id, JSON.stringify(body)).toMatch(/^em_/)
      ids.push(body.id as string)
    }
    await dashboard.drain()
    const page = await dashboard.open('/email-queue')
    await page.getByRole('row').filter({ hasText: 'ranHostileScript' }).first().waitFor()
    await page
      .getByRole('region', { name: 'Emails' })
      .evaluate((box: { scrollTo(x: number, y: number): void }) => box.scrollTo(0, 100_000))
    await page.getByText('ada0@example.com').last().waitFor()
    await expectNothingRan(page, dashboard.url)
    for (const id of ids) {
      await page.goto(`/admin/emails/${id}`)
      await page.getByRole('heading', { name: 'What happened' }).waitFor()
      await openEveryTab(page, () => expectNothingRan(page, dashboard.url))
    }
  }, 240_000)

  it('loads pictures when somebody asks for them, and nothing else even then', async () => {
    const html = `<p>Look</p><img src="http://pictures.test/asked.png"><link rel="stylesheet" href="http://pictures.test/x.css">
      <link rel="preconnect" href="http://other.test"><script src="http://pictures.test/x.js"></script>
      <iframe src="http://pictures.test/frame"></iframe><video src="http://pictures.test/video" autoplay></video>`
    const { body } = await dashboard.call('POST /api/emails', {
      json: { to: 'ada@example.com', subject: 'Look', html },
    })
    const page = await dashboard.open(`/emails/${body.id}`)
    const frame = page.frameLocator('iframe')
    await frame.getByText('Look').waitFor()
    await page.getByText('Pictures from pictures.test are not loaded').waitFor()
    expect(dashboard.takeFaults()).toEqual([])
    const refused = page.waitForEvent('console', (message) => message.text().startsWith('Failed to load resource'))
    await page.getByRole('button', { name: 'Load pictures' }).click()
    await refused
    expect(dashboard.takeFaults()).toEqual(['asked somebody else: GET /asked.png of pictures.test'])
  })

  it('leads nowhere when it is clicked', async () => {
    const { body } = await dashboard.call('POST /api/emails', {
      json: { to: 'ada@example.com', subject: 'Click', html: HOSTILE_HTML },
    })
    const page = await dashboard.open(`/emails/${body.id}`)
    const frame = page.frameLocator('iframe')
    await frame.locator('#said').waitFor()
    await frame.locator('#way-out').click()
    await frame.getByText('click', { exact: true }).first().click()
    await frame.locator('#said').waitFor()
    await expectNothingRan(page, dashboard.url)
  })
})

describe('what somebody else wrote into captured mail', () => {
  const dashboard = openDashboard({ harmless: isRefusal })

  it('is read and never run', async () => {
    for (const text of HOSTILE)
      await dashboard.call('POST /api/emails', {
        json: {
          to: `${JSON.stringify(text)} <ada@example.com>`,
          subject: text,
          html: `${text}${HOSTILE_HTML}`,
          headers: { 'X-Hostile': forHeader(text) },
          attachments: [{ filename: `${forFile(text)}.html`, content: Buffer.from(HOSTILE_HTML).toString('base64') }],
        },
      })
    await dashboard.drain()
    const page = await dashboard.open('/inbox')
    await page.getByRole('row').filter({ hasText: 'ranHostileScript' }).first().waitFor()
    await expectNothingRan(page, dashboard.url)
    const { body } = await dashboard.call('GET /api/inbox?limit=100')
    for (const { id } of body.data as { id: string }[]) {
      await page.goto(`/admin/inbox/${id}`)
      await openEveryTab(page, () => expectNothingRan(page, dashboard.url))
    }
  }, 240_000)
})
