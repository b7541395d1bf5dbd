import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest'
import { insertDashboardUser, setPassword } from '../../src/db/dashboard-users.js'
import type { DashboardRole } from '../../src/domain/dashboard-role.js'
import { serve, type Serving } from '../../src/http/serve.js'
import { DEFAULT_WORKSPACE, newId } from '../../src/id.js'
import type { PostriderOptions } from '../../src/index.js'
import { startSession } from '../../src/operations/dashboard-sessions.js'
import { type Api, openApi } from '../http/api-fixture.js'
import { planDashboard } from '../support/build-dashboard.js'
import type { DatabaseKind } from '../support/test-database.js'
import { ITS_OWN, type KeptBrowser, takeBrowser } from './kept-browser.js'

/**
 * The dashboard in a real browser, through a real server on a real database: what is clicked in a test is what is clicked
 * by people. Every test has an empty database and windows of its own.
 *
 * A script that fails, a dialog, an answer of 500, or a request to anybody but our own server fails the test it happened
 * in, whatever that test is about.
 */
export interface Dashboard extends Api {
  /** Where it is served. */
  readonly url: string
  /** What of the above happened so far. A test that wants it takes it away. */
  takeFaults(): string[]
  /** A window in which nobody is logged in. */
  visit(look?: Look): Promise<Page>
  /** A window of its own, with somebody logged in, at an address such as `/email-queue`. */
  open(path?: string, look?: Look & { readonly role?: DashboardRole }): Promise<Page>
  /** What makes a page hard to use for those who cannot see it, or use no mouse; and whether it is wider than its window. */
  findObstacles(page: Page): Promise<string[]>
}

export interface Look {
  readonly width?: number
  readonly height?: number
  readonly dark?: boolean
  readonly timezone?: string
}

export interface DashboardOptions extends PostriderOptions {
  readonly kind?: DatabaseKind
  /** Workers run all the time; otherwise a test says `drain()`. */
  readonly working?: boolean
  /** Mail goes to the scripted server of the fixture; otherwise it is captured. */
  readonly sending?: boolean
  /** What is no fault here. Said once for all tests of a group: a browser may complain long after what it complains about. */
  readonly harmless?: (fault: string) => boolean
}

export const ADMIN_PASSWORD = 'the password of the settings'
const NAMES: Readonly<Record<DashboardRole, string>> = { operator: 'olga', viewer: 'vera' }

export function openDashboard({
  kind = 'the embedded database',
  working,
  sending,
  harmless = () => false,
  ...options
}: DashboardOptions = {}): Dashboard {
  let kept: KeptBrowser | undefined
  const build = planDashboard()
  beforeAll(async () => {
    await build.make()
    kept = await takeBrowser()
  })
  afterAll(() => build.remove())

  const faults: string[] = []
  const takeFaults = () => {
    const asked = kept?.strangers.takeHeard() ?? []
    return [...faults.splice(0), ...asked.map((said) => `asked somebody else: ${said}`)].filter(
      (fault) => !harmless(fault),
    )
  }
  // Before all that is opened below, so that it is asked when all of it is closed: what fails here leaves nothing open.
  afterEach(() => expect(takeFaults()).toEqual([]))

  const api = openApi(kind, {
    ...(!sending && { smtpUrl: null }),
    adminPassword: ADMIN_PASSWORD,
    dashboardDirectory: build.directory,
    ...options,
  })
  let serving: Serving
  let contexts: BrowserContext[]
  beforeEach(async () => {
    contexts = []
    if (working) await api.mail.start()
    serving = await serve(api.mail, { host: '127.0.0.1', port: 0 })
  })
  afterEach(async () => {
    for (const context of contexts) await context.close()
    await serving.close()
  })

  const newContext = async ({ width = 1440, height = 900, dark, timezone = 'Europe/Paris' }: Look) => {
    const context = await kept!.browser.newContext({
      baseURL: serving.url,
      viewport: { width, height },
      colorScheme: dark ? 'dark' : 'light',
      timezoneId: timezone,
      locale: 'en-GB',
      permissions: ['clipboard-read', 'clipboard-write'],
    })
    contexts.push(context)
    watch(context, faults)
    return context
  }

  const own = {
    get url() {
      return serving.url
    },
    takeFaults,
    visit: async (look: Look = {}) => (await newContext(look)).newPage(),
    async open(path = '/', { role = 'operator', ...look }: Look & { readonly role?: DashboardRole } = {}) {
      const context = await newContext(look)
      const token = await logIn(api, role)
      await context.addCookies([{ name: 'postrider_session', value: token, url: serving.url }])
      const page = await context.newPage()
      await page.goto(`/admin${path}`)
      await page.locator('#main').waitFor()
      return page
    },
    findObstacles,
  }
  return Object.create(api, Object.getOwnPropertyDescriptors(own)) as Dashboard
}

/** Without the form, and without the time that hashing a password takes: that is for the test of the login. */
async function logIn(api: Api, role: DashboardRole): Promise<string> {
  const { db } = api.mail.context
  const passwordHash = 'not the hash of anything'
  const made = await insertDashboardUser(db, DEFAULT_WORKSPACE, { id: newId(), name: NAMES[role], role })
  const userId =
    made?.id ??
    (await db.query<{ id: string }>(`select id from postrider.dashboard_users where name = $1`, [NAMES[role]])).rows[0]!
      .id
  await setPassword(db, userId, passwordHash)
  return (await startSession(db, { userId, passwordHash }, 'a test'))!
}

/** What no page should ever do. */
function watch(context: BrowserContext, faults: string[]): void {
  context.on('request', (request) => {
    const { hostname } = new URL(request.url())
    if (ITS_OWN.some((host) => hostname === host || hostname.endsWith(`.${host}`))) faults.push(`asked ${hostname}`)
  })
  context.on('response', (response) => {
    if (response.status() >= 500) faults.push(`${response.status()} of ${response.url()}`)
  })
  context.on('weberror', (error) => faults.push(`threw ${error.error().message}`))
  context.on('console', (message) => {
    // Chromium's own words about an answer of 4xx, which is for the page to deal with.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
      faults.push(`complained: ${message.text()}`)
  })
  context.on('dialog', (dialog) => {
    faults.push(`showed a dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
}

let axe: string | undefined

/** Runs in the page, whose types are not ours here. */
const LOOK = `(async () => {
  const { violations } = await axe.run(document, { iframes: false })
  const { scrollWidth, clientWidth } = document.documentElement
  return [
    ...violations.map(({ id, help, nodes }) => id + ': ' + help + ': ' + nodes.map(({ html }) => html.slice(0, 200)).join(' | ')),
    ...(scrollWidth > clientWidth ? ['it is ' + scrollWidth + ' wide in a window of ' + clientWidth] : []),
  ]
})()`

async function findObstacles(page: Page): Promise<string[]> {
  axe ??= readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
  // Handed to the page by the debugger: the policy of the page would refuse a script of ours.
  await page.evaluate(axe)
  return page.evaluate<string[]>(LOOK)
}
