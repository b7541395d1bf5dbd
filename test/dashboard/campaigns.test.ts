import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { openCampaignWorld } from '../http/campaign-world.js'
import { openDashboard } from './browser.js'

const MINUTE = 60_000

describe('campaigns in the dashboard', () => {
  const dashboard = openDashboard()
  const world = openCampaignWorld(dashboard)
  const { post, get } = world

  /** A default sender that sends to the scripted server. */
  const sendForReal = () =>
    post('senders', {
      address: 'Weekly <weekly@sender.test>',
      smtp_url: `smtp://127.0.0.1:${dashboard.server.port}`,
      is_default: true,
    })
  const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name })
  const sure = (page: Page, name: string | RegExp) => page.getByRole('dialog').getByRole('button', { name }).click()
  /** Waits until a count is what it should be. */
  const count = (page: Page, name: string, value: number) =>
    page.locator(`[data-count="${name}"]`, { hasText: new RegExp(`^${value}$`) }).waitFor()
  const badge = (page: Page, status: string) => page.locator('h1 + div').getByText(status, { exact: true }).waitFor()

  it('go from a draft to everybody, with a pause in between, by nothing but the browser', async () => {
    await sendForReal()
    await world.list('ada', 'bob', 'cyd', 'dan', 'eve')
    let left = 2
    dashboard.server.script = (at) =>
      at === 'rcpt' && left-- > 0 ? { do: 'reply', text: '451 4.3.0 the disk is full' } : undefined

    const page = await dashboard.open('/campaigns')
    await page.getByText('No campaign yet').waitFor()
    await button(page, 'New campaign').first().click()
    await page.getByRole('textbox', { name: /^Name/ }).first().fill('November news')
    await page.getByLabel('List', { exact: true }).selectOption({ label: 'List 1 — 5 subscribed of 5' })
    await page.getByLabel('Template', { exact: true }).selectOption('own')
    await page.getByLabel('Subject', { exact: true }).fill('News for {{ contact.nmae }}')
    // Somebody of the list is chosen, and what is wrong is said where it is wrong, before anything is saved.
    await page.getByText('contact.nmae has no value').waitFor()
    await page.getByLabel('Subject', { exact: true }).fill('News for {{ contact.name }}')
    await page.getByLabel('Shown as for').selectOption({ label: 'cyd <cyd@example.com>' })
    await page.getByTestId('preview-subject').getByText('News for cyd').waitFor()
    await page.frameLocator('iframe').getByText('Hello cyd,').waitFor()
    await button(page, 'Save the draft').click()

    await page.getByRole('heading', { level: 1, name: 'November news' }).waitFor()
    await badge(page, 'draft')
    await page.getByRole('list', { name: 'Checks' }).getByText('It goes out as weekly@sender.test.').waitFor()
    await button(page, 'Launch…').click()
    await sure(page, 'Launch now, to 5 people')
    await badge(page, 'running')
    await count(page, 'audience', 5)

    await dashboard.drain()
    await count(page, 'sent', 3)
    await count(page, 'retry_scheduled', 2)
    await page.getByText('All have been tried; 2 failed for now').waitFor()
    await page.getByText('4.3.0 the disk is full (rcpt)').waitFor()

    await button(page, 'Pause').click()
    await page.getByRole('dialog').getByText('2 people wait until it is resumed.').waitFor()
    await sure(page, 'Pause the campaign')
    await badge(page, 'paused')
    await dashboard.shiftClock(5 * MINUTE)
    await dashboard.drain()
    await page.getByText('Somebody paused it. Resume it to go on.').waitFor()
    expect(dashboard.server.taken).toHaveLength(3)

    await button(page, 'Resume').click()
    await sure(page, 'Resume the campaign')
    await badge(page, 'running')
    await dashboard.drain()
    await count(page, 'sent', 5)
    await badge(page, 'sent')
    expect(world.received()).toEqual(['ada', 'bob', 'cyd', 'dan', 'eve'].map((name) => `${name}@example.com`))

    await page.getByRole('navigation', { name: 'Screens' }).getByRole('link', { name: 'Campaigns' }).click()
    await page.getByRole('row', { name: /November news.*sent.*5 of 5/ }).waitFor()
  }, 180_000)

  it('say once why emails failed, lead to those, and send the failed again after asking how many', async () => {
    await sendForReal()
    const { id } = await world.draft(['ada', 'bob', 'cyd'])
    let left = 2
    dashboard.server.script = (at) =>
      at === 'rcpt' && left-- > 0 ? { do: 'reply', text: `554 5.6.0 not that, id 4X9sV71kZ${left}` } : undefined
    await post(`campaigns/${id}/launch`)
    await dashboard.drain()
    const page = await dashboard.open(`/campaigns/${id}`)
    await page.getByRole('heading', { name: 'Failed: 2 emails' }).waitFor()
    await page.getByText('5.6.0 not that, id … (rcpt)').waitFor()
    const rows = page.getByRole('link', { name: '2 emails' })
    const { searchParams } = new URL((await rows.getAttribute('href'))!, dashboard.url)
    expect(Object.fromEntries(searchParams)).toEqual({ campaign_id: id, status: 'failed', reason_code: 'message' })
    expect((await get(`emails?${searchParams.toString()}`)).data).toHaveLength(2)

    await button(page, 'Retry the 2 failed').click()
    await sure(page, 'Retry 2 emails')
    await badge(page, 'running')
    await dashboard.drain()
    await count(page, 'sent', 3)
    await badge(page, 'sent')
    expect(await page.getByRole('heading', { name: /^Failed/ }).count()).toBe(0)
  })

  it('are not launched while a check fails, and say where it is mended', async () => {
    await sendForReal()
    const template_id = await world.template({ text: 'You live in {{ contact.city }}.' })
    const { id } = await world.draft(['ada'], { template_id })
    const page = await dashboard.open(`/campaigns/${id}`)
    const failed = page.locator('[data-level="error"]')
    await failed.getByText('There is no value for contact.city.').waitFor()
    await button(page, 'Launch…').click()
    expect(await page.getByRole('dialog').getByRole('button', { name: 'Launch now, to 1 person' }).isDisabled()).toBe(
      true,
    )
    await page.keyboard.press('Escape')

    await failed.getByRole('link', { name: 'Open the template' }).click()
    await page.getByRole('textbox', { name: 'Text' }).fill('You live in {{ contact.city | default: "a town" }}.')
    await button(page, 'Save').click()
    await page.getByText('Saved as version 2').waitFor()
    await page.goBack()
    await page.getByText('It was rendered for the first person.').waitFor()
    await button(page, 'Launch…').click()
    await page.getByText('Start at a time').click()
    await page.getByLabel(/^Start \(Europe\/Paris\)/).fill('2999-07-01T09:00')
    await sure(page, 'Schedule for 1 Jul 2999, 09:00')
    await badge(page, 'scheduled')
    expect(await get(`campaigns/${id}`)).toMatchObject({
      status: 'scheduled',
      scheduled_at: '2999-07-01T07:00:00.000Z',
    })

    await button(page, 'Cancel it').click()
    await sure(page, 'Cancel for 1 person')
    await badge(page, 'canceled')
    await dashboard.drain()
    expect(dashboard.server.taken).toEqual([])
  })

  it('are written with everything that is wrong said in its place', async () => {
    await world.list('ada')
    const template = await world.template()
    const page = await dashboard.open('/campaigns/new')
    await page.getByRole('textbox', { name: /^Name/ }).fill('Spring')
    await page.getByLabel('List', { exact: true }).selectOption({ index: 1 })
    await page.getByLabel('Template', { exact: true }).selectOption(template)
    await page.getByLabel('Planned at a time').fill('20000')
    await page.getByLabel('Answers go to').fill('nobody')
    await button(page, 'Save the draft').click()
    await page.getByText('must be a whole number from 1 to 10000').waitFor()
    await page.getByText('must be one address, such as ada@example.com').waitFor()
    await page.getByLabel('Planned at a time').fill('20')
    await page.getByLabel('Answers go to').fill('desk@example.com')
    // What is not saved is not left without a word.
    await page.getByRole('link', { name: 'Contacts' }).click()
    await button(page, 'Stay here').click()
    await button(page, 'Save the draft').click()
    await page.getByRole('heading', { level: 1, name: 'Spring' }).waitFor()
    expect((await get('campaigns')).data).toMatchObject([{ batch_size: 20, reply_to: 'desk@example.com' }])
  })

  it('of a sequence show where people are, and enroll more of them', async () => {
    await sendForReal()
    const template = await world.template()
    const sequence = await post('sequences', {
      name: 'Onboarding',
      steps: [{ template }, { template, delay_days: 2 }],
    })
    const { id } = await world.draft(['ada', 'bob'], { template_id: null, sequence_id: sequence.id })
    await post(`campaigns/${id}/launch`)
    const more = await world.list('bob', 'cyd')
    const page = await dashboard.open(`/campaigns/${id}`)
    const people = (name: string, value: number) =>
      page.locator(`[data-people="${name}"]`, { hasText: new RegExp(`^${value}$`) }).waitFor()
    await people('active', 2)
    await button(page, 'Enroll another list').click()
    await page.getByLabel('List', { exact: true }).selectOption(more)
    await sure(page, 'Enroll up to 2 people')
    await people('active', 3)
    await people('enrolled_before', 1)
    await page.getByRole('link', { name: 'The sequence, and where they are in it' }).click()
    await page.waitForURL((url) => url.pathname.endsWith(`/sequences/${sequence.id}`))
  })

  it('offer a viewer nothing that changes anything', async () => {
    const { id } = await world.draft(['ada'])
    const page = await dashboard.open(`/campaigns/${id}`, { role: 'viewer' })
    await page.getByRole('list', { name: 'Checks' }).waitFor()
    for (const name of ['Launch…', 'Edit', 'Delete', 'Send a test']) expect(await button(page, name).count()).toBe(0)
    expect(await page.getByRole('link', { name: 'Change the draft' }).count()).toBe(0)
    await page.goto('/admin/campaigns/new')
    await page.getByText('Only an operator can do this').waitFor()
  })

  it('can be used by everybody, on a phone as well, whatever they are called', async () => {
    const evil = `<img src=x onerror="alert(1)"><script>alert(2)</script>`
    const list = (await post('lists', { name: evil })).id
    await post(`lists/${list}/contacts`, { contacts: [{ email: 'ada@example.com', name: evil }] })
    const template_id = await world.template({
      name: `T ${evil}`,
      subject: evil,
      html: `<p>{{ contact.name }}</p>${evil}`,
    })
    const { id } = await post('campaigns', { name: evil, list_id: list, template_id })
    await post('campaigns', { name: 'Other', list_id: list, template_id })
    for (const look of [{ width: 1440 }, { width: 390, height: 844, dark: true }]) {
      const page = await dashboard.open('/campaigns', look)
      await page.getByText(evil).first().waitFor()
      expect(await dashboard.findObstacles(page)).toEqual([])
      await page.goto(`/admin/campaigns/${id}`)
      await page.frameLocator('iframe').getByText(evil).first().waitFor()
      expect(await dashboard.findObstacles(page)).toEqual([])
      await page.goto(`/admin/campaigns/${id}/edit`)
      await page.getByTestId('preview-subject').getByText(evil).waitFor()
      expect(await dashboard.findObstacles(page)).toEqual([])
      await page.close()
    }
    // Chromium says aloud what it did not run and did not load.
    const blocked = /^complained: .*(?:violates the following Content Security Policy|Blocked script execution)/
    expect(dashboard.takeFaults().filter((fault) => !blocked.test(fault))).toEqual([])
  })
})
