import { gzipSync } from 'node:zlib'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { makeFirstLink, setUpUrl } from '../../src/operations/dashboard-links.js'
import { ADMIN_PASSWORD, openDashboard } from './browser.js'

const logIn = async (page: Page, password: string) => {
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Log in' }).click()
}

describe('logging in', () => {
  const dashboard = openDashboard()

  it('is asked of everybody, and leads to where they wanted to go', async () => {
    const page = await dashboard.visit()
    await page.goto('/admin/email-queue?status=failed')
    await page.getByLabel('Password').waitFor()
    expect(await dashboard.findObstacles(page)).toEqual([])
    await logIn(page, 'not the password')
    await page.getByText('The name or the password is wrong.').waitFor()
    await logIn(page, ADMIN_PASSWORD)
    await page.getByRole('heading', { level: 1, name: 'Email queue' }).waitFor()
    expect(new URL(page.url()).search).toBe('?status=failed')
    await page.getByText('admin · operator').waitFor()
  })

  it('brings no more than 180 KB until the first screen is there', async () => {
    const page = await dashboard.visit()
    const files: Promise<number>[] = []
    page.on('response', (response) => {
      const { pathname } = new URL(response.url())
      if (pathname.startsWith('/admin')) files.push(response.body().then((body) => gzipSync(body).length))
    })
    await page.goto('/admin/')
    await logIn(page, ADMIN_PASSWORD)
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
    await page.locator('.uplot').first().waitFor()
    const sizes = await Promise.all(files)
    // The page, its script, its style and the screen at least: otherwise nothing was measured.
    expect(sizes.length).toBeGreaterThanOrEqual(4)
    const total = sizes.reduce((sum, size) => sum + size, 0)
    expect(total).toBeGreaterThan(50_000)
    expect(total).toBeLessThanOrEqual(180 * 1024)
  })

  it('leads nowhere but into the dashboard', async () => {
    const page = await dashboard.visit()
    await page.goto('/admin/login?next=//elsewhere.test/')
    await logIn(page, ADMIN_PASSWORD)
    await page.locator('#main').waitFor()
    expect(page.url()).toBe(`${dashboard.url}/admin/`)
  })

  it('shows the way back to whoever is where nothing is', async () => {
    const page = await dashboard.open()
    await page.goto('/admin/no-such-screen')
    await page.getByRole('heading', { level: 1, name: 'There is nothing here' }).waitFor()
    expect(await dashboard.findObstacles(page)).toEqual([])
    await page.getByRole('link', { name: 'Back to the overview' }).click()
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
  })

  it('ends when somebody logs out, also for a page that is open elsewhere', async () => {
    const page = await dashboard.visit()
    await page.goto('/admin/')
    await logIn(page, ADMIN_PASSWORD)
    await page.locator('#main').waitFor()
    const other = await page.context().newPage()
    await other.goto('/admin/inbox')
    await other.locator('#main').waitFor()
    await page.getByRole('button', { name: 'Log out' }).click()
    await page.getByLabel('Password').waitFor()
    await page.goto('/admin/email-queue')
    await page.getByLabel('Password').waitFor()
    await other.getByRole('link', { name: 'Email queue' }).click()
    await other.getByLabel('Password').waitFor()
  })
})

describe('the set-up link', () => {
  const dashboard = openDashboard({ adminPassword: null })

  it('lets one person choose the password, once', async () => {
    const link = (await makeFirstLink(dashboard.mail.context.db))!
    const url = setUpUrl(dashboard.url, link.token)
    const page = await dashboard.visit()
    await page.goto(url.replace(/#.*/, ''))
    await page.getByText('This link is not whole').waitFor()
    // Pasted whole into the same window, which does not load the page again.
    await page.goto(url)
    await page.getByLabel('Password').waitFor()
    expect(await dashboard.findObstacles(page)).toEqual([])
    const choose = async (at: Page, password: string, again = password) => {
      await at.getByLabel('Password').fill(password)
      await at.getByLabel('The same again').fill(again)
      await at.getByRole('button', { name: 'Go in' }).click()
    }
    await choose(page, 'correct horse battery', 'correct horse batteri')
    await page.getByText('The two are not the same.').waitFor()
    await choose(page, 'correct horse battery')
    await page.getByText('admin · operator').waitFor()
    expect(page.url()).not.toContain(link.token)

    const second = await dashboard.visit()
    await second.goto(url)
    await choose(second, 'another good password')
    await second.getByText('This link was used').waitFor()
    await second.goto('/admin/login')
    await logIn(second, 'correct horse battery')
    await second.getByText('admin · operator').waitFor()
  })
})

describe('a viewer', () => {
  const dashboard = openDashboard()

  it('sees what is there, is offered nothing that changes it, and is refused by the server', async () => {
    await dashboard.call('POST /api/emails', { json: { to: 'ada@example.com', subject: 'Seen', text: 'Hello.' } })
    const page = await dashboard.open('/email-queue', { role: 'viewer' })
    await page.getByText('vera · viewer').waitFor()
    await page.getByRole('link', { name: 'Seen' }).waitFor()
    expect(await page.getByRole('checkbox').count()).toBe(0)
    const status = await page.evaluate<number>(
      `fetch('/api/admin/outbox/retry', { method: 'POST', headers: { 'X-Postrider-Dashboard': '1' } }).then(({ status }) => status)`,
    )
    expect(status).toBe(403)
  })
})
