import { describe, expect, it } from 'vitest'
import { openDashboard } from './browser.js'

describe('the audience', () => {
  const dashboard = openDashboard()
  const post = async (path: string, json: object) => (await dashboard.call(`POST /api/${path}`, { json })).body

  it('is imported with progress and the lines that could not be used, and nobody who opted out is revived', async () => {
    await post('suppressions', { email: 'gone@example.com' })
    const page = await dashboard.open('/lists')
    await page.getByText('No list yet').waitFor()
    expect(await dashboard.findObstacles(page)).toEqual([])
    await page.getByRole('button', { name: 'New list' }).click()
    await page.getByLabel('Name').fill('Newsletter')
    await page.getByRole('button', { name: 'Make list' }).click()
    await page.getByRole('heading', { level: 1, name: 'Newsletter' }).waitFor()
    await page.getByRole('button', { name: 'Import' }).click()
    const csv =
      'email,name,plan\nada@example.com,Ada,pro\nnot an address,Nobody,\ngone@example.com,Gone,\nada@example.com,Ada L.,team\n'
    await page
      .getByLabel('File', { exact: true })
      .setInputFiles({ name: 'people.csv', mimeType: 'text/csv', buffer: Buffer.from(csv) })
    await page.getByRole('dialog').getByRole('button', { name: 'Import', exact: true }).click()
    await page.getByRole('heading', { level: 1, name: 'Import' }).waitFor()
    const problems = page.getByRole('table', { name: 'Rows with problems' })
    expect(await problems.getByRole('row').nth(1).innerText()).toMatch(/^3\s/)
    const figures = await page.locator('#main').innerText()
    expect(figures).toMatch(/Refused\s*1/)
    expect(figures).toMatch(/Opted out, left so\s*1/)
    expect(await dashboard.findObstacles(page)).toEqual([])
    await page.getByRole('link', { name: 'its list' }).click()
    await page.getByRole('link', { name: 'ada@example.com' }).click()
    await page.getByRole('heading', { level: 1, name: 'Ada L.' }).waitFor()
    expect(await page.locator('pre').first().innerText()).toContain('"plan": "team"')
    expect(await dashboard.findObstacles(page)).toEqual([])
  })

  it('is searched, edited, suppressed and allowed again', async () => {
    for (const name of ['Ada', 'Grace', 'Katherine'])
      await post('contacts', { email: `${name.toLowerCase()}@example.com`, name })
    const page = await dashboard.open('/contacts')
    await page.getByLabel('Search').fill('grace')
    await page.getByRole('link', { name: 'ada@example.com' }).waitFor({ state: 'detached' })
    await page.waitForURL('**/contacts?q=grace')
    await page.getByRole('link', { name: 'grace@example.com' }).click()
    await page.getByRole('button', { name: 'Edit' }).click()
    await page.getByLabel('Attributes').fill('{"plan": ')
    await page.getByRole('button', { name: 'Save contact' }).click()
    await page.getByText('must be a JSON object').waitFor()
    await page.getByLabel('Attributes').fill('{"plan": "pro"}')
    await page.getByRole('button', { name: 'Save contact' }).click()
    await page.getByText('"plan": "pro"').waitFor()
    await page.getByRole('button', { name: 'Suppress' }).click()
    await page.getByRole('button', { name: 'Suppress address' }).click()
    await page.getByText('Not mailed at all').waitFor()
    await page.getByRole('link', { name: 'Suppressions' }).click()
    await page.getByRole('checkbox', { name: 'Select row 1' }).check()
    expect(await dashboard.findObstacles(page)).toEqual([])
    await page.getByRole('button', { name: 'Allow 1 again' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Allow 1' }).click()
    await page.getByText('Nobody is suppressed').waitFor()
    const { body } = await dashboard.call('GET /api/suppressions')
    expect(body.data).toEqual([])
  })

  it('shows a viewer everything and offers nothing to change it, on a phone as well', async () => {
    await post('contacts', { email: 'ada@example.com', name: 'Ada' })
    const page = await dashboard.open('/contacts', { role: 'viewer', width: 390, height: 844, dark: true })
    await page.getByRole('link', { name: 'ada@example.com' }).waitFor()
    expect(await dashboard.findObstacles(page)).toEqual([])
    expect(await page.getByRole('button', { name: 'New contact' }).count()).toBe(0)
    await page.getByRole('link', { name: 'ada@example.com' }).click()
    await page.getByRole('heading', { level: 1, name: 'Ada' }).waitFor()
    expect(await page.getByRole('button', { name: 'Remove' }).count()).toBe(0)
    // What is not offered is not possible either.
    const status = await page.evaluate(
      `fetch('/api/contacts', { method: 'POST', headers: { 'X-Postrider-Dashboard': '1', 'Content-Type': 'application/json' }, body: '{"email":"eve@example.com"}' }).then((answer) => answer.status)`,
    )
    expect(status).toBe(403)
  })
})
