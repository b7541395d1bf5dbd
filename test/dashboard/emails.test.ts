import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { openDashboard } from './browser.js'

const row = (page: Page, subject: string) => page.getByRole('row').filter({ hasText: subject })
const state = (page: Page, subject: string, word: string) => row(page, subject).getByText(word, { exact: true }).first()
const tab = (page: Page, name: RegExp) => page.getByRole('navigation', { name: 'By state' }).getByRole('link', { name })
/** By the menu of its row. */
const choose = async (page: Page, subject: string, label: string) => {
  await row(page, subject).getByRole('button', { name: 'What can be done' }).click()
  await page.getByRole('menuitem', { name: label }).click()
}
const confirm = (page: Page, name: string) => page.getByRole('dialog').getByRole('button', { name }).click()

/** What is used of a box of a page, whose types are not ours here. */
interface Box {
  readonly scrollTop: number
  readonly scrollHeight: number
  scrollTo(x: number, y: number): void
}

describe('the email queue', () => {
  const dashboard = openDashboard({ sending: true })
  const send = async (subject: string, extra: object = {}) => {
    const json = { to: `${subject.toLowerCase().replaceAll(' ', '.')}@example.com`, subject, text: 'Hello.', ...extra }
    return (await dashboard.call('POST /api/emails', { json })).body.id as string
  }

  it('says how to fill it, and shows what is sent as it happens', async () => {
    const page = await dashboard.open('/email-queue')
    await page.getByText('No email yet').waitFor()
    expect(await dashboard.findObstacles(page)).toEqual([])
    await send('Good news')
    await state(page, 'Good news', 'scheduled').waitFor()
    await dashboard.drain()
    await state(page, 'Good news', 'sent').waitFor()
    await tab(page, /^Sent 1$/).waitFor()
    expect(await dashboard.findObstacles(page)).toEqual([])
  })

  it('is as wide as the screen however long a tag is', async () => {
    const id = await send('Tagged', { tags: [{ name: 'n'.repeat(200), value: 'v'.repeat(200) }] })
    for (const width of [390, 1280]) {
      const page = await dashboard.open(`/emails/${id}`, { width })
      await page.getByText('v'.repeat(200)).waitFor()
      const room = await page.evaluate<{ wide: number; seen: number }>(
        `({ wide: document.documentElement.scrollWidth, seen: document.documentElement.clientWidth })`,
      )
      expect(room.wide).toBe(room.seen)
    }
  })

  it('leads from a failure to a retry to sent, and tells the story', async () => {
    dashboard.answer('dot', '554 5.7.1 refused by policy')
    await send('Unwelcome')
    await dashboard.drain()
    const page = await dashboard.open('/email-queue?status=failed')
    await row(page, 'Unwelcome').getByText('refused by policy').waitFor()
    await choose(page, 'Unwelcome', 'Retry')
    await page.getByRole('dialog').getByText('It starts over with all its attempts').waitFor()
    await confirm(page, 'Retry this email')
    await page.getByText('Nothing is failed').waitFor()
    dashboard.server.script = () => undefined
    await dashboard.drain()
    await tab(page, /^Sent/).click()
    await row(page, 'Unwelcome').getByRole('link').click()
    await page.getByText('The next mail server accepted it.').waitFor()
    const story = page.getByRole('list').filter({ hasText: 'Accepted' })
    await story.getByText('Attempt 1: refused').waitFor()
    await story.getByText('554 5.7.1 refused by policy').first().waitFor()
    await story.getByText('Retried by olga').waitFor()
    await story.getByText(/accepted by the mail server/).waitFor()
    expect(await dashboard.findObstacles(page)).toEqual([])
  })

  it('dismisses, cancels and reschedules', async () => {
    const failed = await send('Failed one')
    await dashboard.force(failed, 'failed')
    const later = { scheduled_at: '2040-01-01T00:00:00Z' }
    const [canceled, moved] = [await send('Called off', later), await send('Put off', later)]
    const page = await dashboard.open('/email-queue')
    await choose(page, 'Failed one', 'Dismiss')
    await confirm(page, 'Dismiss this email')
    await state(page, 'Failed one', 'dismissed').waitFor()
    await choose(page, 'Called off', 'Cancel')
    await confirm(page, 'Cancel this email')
    await state(page, 'Called off', 'canceled').waitFor()
    await choose(page, 'Put off', 'Send at another time')
    expect(await page.getByRole('button', { name: 'Reschedule this email' }).isDisabled()).toBe(true)
    await page.getByLabel('Send at (Europe/Paris)').fill('2041-06-15T09:30')
    await confirm(page, 'Reschedule this email')
    await page.getByText('1 email rescheduled.').waitFor()
    const of = async (id: string) => (await dashboard.call(`GET /api/emails/${id}`)).body
    expect((await of(failed)).status).toBe('dismissed')
    expect((await of(canceled)).status).toBe('canceled')
    expect((await of(moved)).scheduled_at).toBe('2041-06-15T07:30:00.000Z')
  })

  it('settles what nobody can know, and says what sending again may do', async () => {
    dashboard.answer('dot', { do: 'drop' })
    await send('Arrived')
    await send('Lost')
    await dashboard.drain()
    dashboard.server.script = () => undefined
    const page = await dashboard.open('/email-queue?status=uncertain')
    await choose(page, 'Arrived', 'It was sent')
    await confirm(page, 'Mark this email as sent')
    await row(page, 'Arrived').waitFor({ state: 'detached' })
    await row(page, 'Lost').getByRole('link').click()
    await page.getByText('Nobody can know whether it went out').waitFor()
    await page.getByRole('button', { name: 'Send again' }).click()
    await page.getByRole('dialog').getByText('the person gets it twice').waitFor()
    await confirm(page, 'Send this email again')
    await page.getByText('so it may arrive twice').waitFor()
    await dashboard.drain()
    await page.getByText('so it may have arrived twice').waitFor()
    await page.getByText('Sent again, although it may have been taken before by olga').waitFor()
    expect(dashboard.server.taken.filter(({ raw }) => raw.includes('Subject: Lost'))).toHaveLength(2)
    expect(dashboard.server.taken.filter(({ raw }) => raw.includes('Subject: Arrived'))).toHaveLength(1)
  })

  it('acts on those that were chosen, and names those that had become something else', async () => {
    const ids = [await send('First'), await send('Second'), await send('Third')]
    for (const id of ids.slice(0, 2)) await dashboard.force(id, 'failed')
    const page = await dashboard.open('/email-queue')
    await page.getByLabel('Select all that are loaded').check()
    const bar = page.getByRole('region', { name: 'Chosen emails' })
    await bar.getByText('3 emails chosen').waitFor()
    await bar.getByRole('button', { name: 'Retry' }).click()
    await page.getByText('1 email of those you chose stays as it is: 1 scheduled.').waitFor()
    // Somebody else is faster.
    await dashboard.call(`POST /api/emails/${ids[0]}/retry`)
    await confirm(page, 'Retry 2 emails')
    await page.getByRole('heading', { name: '1 email due again.' }).waitFor()
    await page.getByRole('dialog').getByText(`is scheduled; retrying needs failed`).waitFor()
    expect(await page.getByRole('dialog').getByRole('link').allTextContents()).toEqual(['First'])
    await confirm(page, 'Understood')
    await state(page, 'Second', 'scheduled').waitFor()
    await bar.waitFor({ state: 'detached' })
  })

  it('acts on all that match a filter, once their number is confirmed', async () => {
    for (const subject of ['Invoice 1', 'Invoice 2', 'Receipt']) await dashboard.force(await send(subject), 'failed')
    const page = await dashboard.open('/email-queue')
    await page.getByLabel('Search').fill('invoice')
    await page.waitForURL((url) => url.search === '?q=invoice')
    await row(page, 'Receipt').waitFor({ state: 'detached' })
    await tab(page, /^Failed 2$/).waitFor()
    await page.getByRole('button', { name: 'Act on all that match' }).click()
    await page.getByRole('menuitem', { name: 'Dismiss: all failed that match' }).click()
    await page.getByRole('heading', { name: 'Dismiss 2 emails?' }).waitFor()
    // One more has come: nobody agreed to that one.
    await dashboard.force(await send('Invoice 3'), 'failed')
    await confirm(page, 'Dismiss 2 emails')
    await page.getByText('2 emails dismissed.').waitFor()
    await page.getByLabel('Search').fill('')
    await state(page, 'Receipt', 'failed').waitFor()
    await state(page, 'Invoice 3', 'failed').waitFor()
    await state(page, 'Invoice 1', 'dismissed').waitFor()
  })

  it('does what takes long a page at a time, shows how far it is, and can be stopped in the middle', async () => {
    for (let i = 0; i < 1_100; i += 100)
      await dashboard.call('POST /api/emails/batch', {
        json: Array.from({ length: 100 }, (_, n) => ({
          to: 'many@example.com',
          subject: `Many ${i + n}`,
          text: 'Hello.',
          scheduled_at: '2040-01-01T00:00:00Z',
        })),
      })
    const page = await dashboard.open('/email-queue?q=many')
    await row(page, 'Many 1099').waitFor()
    // The second page is held up until somebody has clicked.
    let asked = 0
    let goOn = (): void => undefined
    const stopped = new Promise<void>((resolve) => (goOn = resolve))
    await page.route('**/api/admin/outbox/cancel', async (route) => {
      if (route.request().postDataJSON().dry_run !== true && ++asked === 2) await stopped
      await route.continue()
    })
    await page.getByRole('button', { name: 'Act on all that match' }).click()
    await page.getByRole('menuitem', { name: 'Cancel: all' }).click()
    await confirm(page, 'Cancel 1,100 emails')
    await page.getByText('250 of 1,100.').waitFor()
    expect(await page.getByRole('progressbar', { name: 'Emails decided' }).getAttribute('aria-valuenow')).toBe('250')
    await confirm(page, 'Stop')
    goOn()
    await page.getByRole('heading', { name: '500 emails canceled.' }).waitFor()
    await page
      .getByRole('dialog')
      .getByText('You stopped it. 600 emails were not come to and stay as they are.')
      .waitFor()
    const { body } = await dashboard.call('GET /api/admin/audit?action=cancel')
    expect(body.data).toMatchObject([
      { outcome: 'not_known', detail: { in_all: 1_100, begun: 500, changed: 500, refused: 0 } },
    ])
  })

  it('keeps its filters in the address, to be kept, sent on and gone back from', async () => {
    await send('To Ada', { to: 'ada@example.com' })
    await send('To Grace', { to: 'grace@example.com' })
    const page = await dashboard.open('/email-queue?to=ada%40example.com&status=scheduled')
    await row(page, 'To Ada').waitFor()
    expect(await row(page, 'To Grace').count()).toBe(0)
    await tab(page, /^Failed/).click()
    await page.getByText('No failed email matches').waitFor()
    await page.goBack()
    await row(page, 'To Ada').waitFor()
    await page.getByRole('button', { name: /^to ada@example.com/ }).click()
    await row(page, 'To Grace').waitFor()
    expect(new URL(page.url()).search).toBe('?status=scheduled')
    await page.getByRole('button', { name: 'Filter' }).click()
    await page.getByLabel('Made after (Europe/Paris)').fill('2099-01-01T00:00')
    await page.getByText('No scheduled email matches').waitFor()
    expect(await dashboard.findObstacles(page)).toEqual([])
  })

  it('holds only the rows in sight, and announces what is new to those who have scrolled down', async () => {
    const batch = (from: number) =>
      Array.from({ length: 100 }, (_, i) => ({ to: 'ada@example.com', subject: `Number ${from + i}`, text: 'Hello.' }))
    const oldest = (await dashboard.call('POST /api/emails/batch', { json: batch(1) })).body.data as { id: string }[]
    for (const from of [101, 201]) await dashboard.call('POST /api/emails/batch', { json: batch(from) })
    const page = await dashboard.open('/email-queue')
    await row(page, 'Number 300').waitFor()
    const list = page.getByRole('region', { name: 'Emails' })
    const first = page.getByText('Number 1', { exact: true })
    await expect
      .poll(async () => {
        await list.evaluate((box: Box) => box.scrollTo(0, box.scrollHeight))
        return first.isVisible()
      })
      .toBe(true)
    expect(await page.getByRole('row').count()).toBeLessThan(60)
    const place = await list.evaluate((box: Box) => box.scrollTop)
    await send('Brand new')
    await page.getByRole('button', { name: 'Newer emails have come: show them' }).waitFor()
    expect(await row(page, 'Brand new').count()).toBe(0)
    expect(await list.evaluate((box: Box) => box.scrollTop)).toBe(place)
    // What is in sight is up to date all the same.
    await dashboard.call(`POST /api/emails/${oldest[0]!.id}/cancel`)
    await row(page, 'Number 1').last().getByText('canceled', { exact: true }).first().waitFor()
    await page.getByRole('button', { name: 'Newer emails have come: show them' }).click()
    await row(page, 'Brand new').waitFor()
  })

  it('shows several recipients together, each with an outcome of their own', async () => {
    dashboard.server.script = (point, line) =>
      point === 'rcpt' && line.includes('bob') ? { do: 'reply', text: '550 5.1.1 no such user' } : undefined
    const id = await send('Minutes', { to: ['ada@example.com', 'bob@example.com'] })
    await dashboard.drain()
    const page = await dashboard.open(`/emails/${id}`, { width: 390, height: 844, dark: true })
    await page.getByRole('heading', { name: 'Recipients (2)' }).waitFor()
    const outcome = (address: string) => page.getByRole('listitem').filter({ hasText: address }).last()
    await outcome('ada@example.com').getByText('sent', { exact: true }).waitFor()
    await outcome('bob@example.com').getByText('failed', { exact: true }).waitFor()
    expect(await dashboard.findObstacles(page)).toEqual([])
  })
})
