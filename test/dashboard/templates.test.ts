import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { openCampaignWorld } from '../http/campaign-world.js'
import { openDashboard } from './browser.js'

describe('templates in the dashboard', () => {
  const dashboard = openDashboard()
  const world = openCampaignWorld(dashboard)
  const { post, get } = world
  const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name })
  const sure = (page: Page, name: string) => page.getByRole('dialog').getByRole('button', { name }).click()
  const field = (page: Page, name: string) => page.getByRole('textbox', { name, exact: true })

  it('are written with a preview beside them, and what is wrong stands where it is wrong', async () => {
    const page = await dashboard.open('/templates')
    await page.getByText('No template yet').waitFor()
    await button(page, 'New template').first().click()
    await field(page, 'Name').fill('Welcome')
    await field(page, 'Subject').fill('Hello {{ contact.name }}')
    await field(page, 'HTML').fill('<h1>Hello</h1>\n<p>{{ contact.name </p>')
    const problem = page.getByRole('button', { name: /^Line 2: / })
    await problem.waitFor()
    await page.getByText('must be mended before it can be shown').waitFor()
    await problem.click()
    expect(await field(page, 'HTML').evaluate((area: { selectionStart: number }) => area.selectionStart)).toBe(18)

    await field(page, 'HTML').fill('<h1>Hello</h1>\n<p>{{ contact.name }} of {{ contact.city }}</p>')
    await page.getByRole('button', { name: 'Line 2: contact.city has no value' }).waitFor()
    await page.getByTestId('preview-subject').getByText('Hello Ada Lovelace').waitFor()
    await button(page, 'Add to the sample data').click()
    await page.frameLocator('iframe').getByText('Ada Lovelace of (city)').waitFor()
    await button(page, 'Make the template').click()
    await page.waitForURL(/\/templates\/tpl_/)
    await page.getByRole('heading', { level: 1, name: 'Welcome' }).waitFor()
    expect((await get('templates')).data).toMatchObject([{ name: 'Welcome', version: 1, text: null }])
  })

  it('are shown for somebody who exists', async () => {
    await post('contacts', { email: 'bob@example.com', name: 'Bob', attributes: { city: 'Oslo' } })
    await post('contacts', { email: 'cyd@example.com', name: 'Cyd' })
    const id = await world.template({ subject: 'For {{ contact.name }}', text: 'You live in {{ contact.city }}.' })
    const page = await dashboard.open(`/templates/${id}`)
    await page.getByText('A contact').click()
    await page.getByTestId('preview-subject').getByText('For Cyd').waitFor()
    await page.getByText('No value for contact.city').waitFor()
    await page.getByLabel('Find somebody').fill('bob')
    await page.getByTestId('preview-subject').getByText('For Bob').waitFor()
    await page.getByText('You live in Oslo.', { exact: true }).waitFor()
    // What the contact has can be put in by name.
    await button(page, 'Put a variable into the subject').click()
    await page.getByRole('menuitem', { name: 'contact.city' }).click()
    expect(await field(page, 'Subject').inputValue()).toContain('{{ contact.city }}')
  })

  it('have versions that can be looked at and brought back', async () => {
    const id = await world.template({ name: 'News', subject: 'First', text: 'First text' })
    const page = await dashboard.open(`/templates/${id}`)
    await field(page, 'Subject').fill('Second')
    await page.getByText('not saved').waitFor()
    await page.getByRole('link', { name: 'Contacts' }).click()
    await button(page, 'Stay here').click()
    await button(page, 'Save').click()
    await page.getByText('Saved as version 2').waitFor()
    await button(page, 'Look at version 1').click()
    await page.getByRole('dialog').getByTestId('preview-subject').getByText('First').waitFor()
    await button(page, 'Close').click()
    await button(page, 'Bring back version 1').click()
    await sure(page, 'Bring back version 1')
    await page.getByText('Version 1 is back, as version 3').waitFor()
    expect(await field(page, 'Subject').inputValue()).toBe('First')
    expect(await get(`templates/${id}`)).toMatchObject({ version: 3, subject: 'First' })

    // Somebody else saves: nobody is overwritten unseen.
    await field(page, 'Subject').fill('Mine')
    await dashboard.call(`PATCH /api/templates/${id}`, { json: { subject: 'Theirs' } })
    await page.evaluate(`window.dispatchEvent(new Event('visibilitychange'))`)
    await page.getByText('Somebody saved version 4 since you began.').waitFor()
    await button(page, 'Show version 4 instead').click()
    expect(await field(page, 'Subject').inputValue()).toBe('Theirs')
  })

  it('are tried out at one address, and stay while something needs them, which is named', async () => {
    const id = await world.template({ name: 'News', subject: 'Hi {{ contact.name }}', text: 'Hello' })
    const campaign = await world.draft(['ada'], { template_id: id })
    const page = await dashboard.open(`/templates/${id}`)
    await page.getByTestId('preview-subject').getByText('Hi Ada Lovelace').waitFor()
    await button(page, 'Send a test').click()
    await page.getByRole('dialog').getByLabel('To').fill('me@example.com')
    await sure(page, 'Send the test')
    await page.getByText('Queued for me@example.com.').waitFor()
    await dashboard.drain()
    expect((await get('inbox')).data).toMatchObject([{ subject: '[Test] Hi Ada Lovelace' }])
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click()

    await button(page, 'Delete').click()
    await sure(page, 'Delete the template')
    await page.getByRole('dialog').getByText('the campaign "News"').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Leave it' }).click()
    await dashboard.call(`DELETE /api/campaigns/${campaign.id}`)
    await button(page, 'Delete').click()
    await sure(page, 'Delete the template')
    await page.waitForURL(/\/templates$/)
    await page.getByText('No template yet').waitFor()
  })

  it('can be read by a viewer, and used by everybody, whatever they say', async () => {
    const evil = `<img src=x onerror="alert(1)"><script>alert(2)</script>`
    const id = await world.template({
      name: evil,
      subject: evil,
      html: `<p>Evil</p>${evil}<a href="{{ contact.link }}">x</a>`,
    })
    await world.template({ name: 'Other' })
    for (const look of [
      { width: 1440, role: 'viewer' as const },
      { width: 390, height: 844, dark: true },
    ]) {
      const page = await dashboard.open('/templates', look)
      await page.getByText(evil).first().waitFor()
      expect(await dashboard.findObstacles(page)).toEqual([])
      await page.goto(`/admin/templates/${id}`)
      await page.frameLocator('iframe').getByText('Evil').waitFor()
      expect(await dashboard.findObstacles(page)).toEqual([])
      const offered = await button(page, /^(?:Save|Delete|Send a test|Bring back)/).count()
      expect(offered > 0).toBe(look.role !== 'viewer')
      await page.close()
    }
    // Chromium says aloud what it did not run and did not load.
    const blocked = /^complained: .*(?:violates the following Content Security Policy|Blocked script execution)/
    expect(dashboard.takeFaults().filter((fault) => !blocked.test(fault))).toEqual([])
  })
})
