import { type CDPSession, chromium, type Page } from 'playwright-core'
import type * as ServeModule from '../../src/http/serve.js'
import type { Postrider } from '../../src/index.js'
import { chromiumProgram } from '../../test/support/services/chromium.js'
import { requireProgram } from '../../test/support/services/required-program.js'
import { median, quantile } from '../support/statistics.js'

/**
 * The email queue in a real browser, with all its rows loaded, while somebody turns the wheel, and while somebody drags
 * the bar to anywhere. What counts is what the page does for a frame: a frame that comes late on a busy machine says little.
 */
export interface Scroll {
  readonly rows: number
  readonly frames: number
  /** Of the page's main thread, for each frame, while the wheel turns. */
  readonly workMs: number
  readonly frameMs: number
  readonly p99FrameMs: number
  /** Rows that were to be seen and were not there yet, in the worst frame. */
  readonly blankRows: number
  /** From letting go of the bar somewhere else until the rows there are painted. */
  readonly jumpMs: number
  readonly worstJumpMs: number
}

export const PASSWORD = 'the password of the benchmark'
const TURNS = 300
const PIXELS_PER_TURN = 120
const JUMPS = 40

/** Each size in turn, in one window: the table is filled from the top until it has so many. */
export async function measureScrolling(
  postrider: Postrider,
  postriderUrl: string,
  sizes: readonly number[],
): Promise<Scroll[]> {
  const { serve } = (await import(`${postriderUrl}http/serve.js`)) as typeof ServeModule
  const serving = await serve(postrider, { host: '127.0.0.1', port: 0 })
  const executablePath = await requireProgram(chromiumProgram)
  const browser = await chromium.launch({ executablePath, args: ['--disable-gpu'], chromiumSandbox: false })
  try {
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 }, baseURL: serving.url })
    await page.goto('/admin/email-queue')
    await page.getByLabel('Password').fill(PASSWORD)
    await page.getByRole('button', { name: 'Log in' }).click()
    const debuggerOf = await page.context().newCDPSession(page)
    await debuggerOf.send('Performance.enable')
    await page.getByRole('region', { name: 'Emails' }).waitFor()
    await page.evaluate(HELPERS)
    const seen: Scroll[] = []
    for (const size of sizes) seen.push(await scroll(page, debuggerOf, size))
    return seen
  } finally {
    await browser.close()
    await serving.close()
  }
}

async function scroll(page: Page, session: CDPSession, size: number): Promise<Scroll> {
  const rows = await page.evaluate<number>(`loadRows(${size})`)
  await page.evaluate('table.scrollTop = 0')
  await page.mouse.move(700, 500)
  await page.evaluate('watchFrames()')
  const before = await readWork(session)
  for (let i = 0; i < TURNS; i++) await page.mouse.wheel(0, PIXELS_PER_TURN)
  const after = await readWork(session)
  const { frames, blank } = await page.evaluate<{ frames: number[]; blank: number }>('endWatch()')
  const jumps: number[] = []
  for (let i = 0; i < JUMPS; i++) jumps.push(await page.evaluate<number>(`jumpTo(${((i * 7919) % 1000) / 1000})`))
  return {
    rows,
    frames: frames.length,
    workMs: (1_000 * (after - before)) / frames.length,
    frameMs: median(frames),
    p99FrameMs: quantile(frames, 0.99),
    blankRows: blank,
    jumpMs: median(jumps),
    worstJumpMs: Math.max(...jumps),
  }
}

async function readWork(session: CDPSession): Promise<number> {
  const { metrics } = await session.send('Performance.getMetrics')
  return metrics.find(({ name }) => name === 'TaskDuration')!.value
}

/** Runs in the page, whose types are not ours here. */
const HELPERS = `
  const ROW = 44
  globalThis.table = document.querySelector('[role=region][aria-label=Emails]')
  const frame = () => new Promise((done) => requestAnimationFrame(done))
  const body = () => table.querySelectorAll('[role=rowgroup]')[1]
  const loaded = () => Math.round(body().getBoundingClientRect().height / ROW)
  const isComplete = () => table.querySelector('[role=table]').getAttribute('aria-rowcount') !== '-1'
  globalThis.loadRows = async (size) => {
    while (loaded() < size && !isComplete()) {
      table.scrollTop = table.scrollHeight
      await frame()
    }
    return loaded()
  }
  // Of what is in sight, the part that no row covers.
  const blankRows = () => {
    const view = table.getBoundingClientRect()
    const rows = [...body().querySelectorAll('[role=row]')].map((row) => row.getBoundingClientRect())
    const [top, bottom] = [Math.min(...rows.map((row) => row.top)), Math.max(...rows.map((row) => row.bottom))]
    const head = view.top + 36
    return Math.max(0, Math.round((Math.max(0, top - head) + Math.max(0, view.bottom - bottom)) / ROW))
  }
  let watching = false, frames = [], blank = 0
  globalThis.watchFrames = () => {
    watching = true, frames = [], blank = 0
    let last = performance.now()
    const step = () => {
      if (!watching) return
      const now = performance.now()
      frames.push(now - last)
      last = now
      blank = Math.max(blank, blankRows())
      requestAnimationFrame(step)
    }
    requestAnimationFrame(step)
  }
  globalThis.endWatch = () => { watching = false; return { frames, blank } }
  globalThis.jumpTo = async (part) => {
    const from = performance.now()
    table.scrollTop = part * (table.scrollHeight - table.clientHeight)
    do await frame()
    while (blankRows() > 0)
    return performance.now() - from
  }
`
