/**
 * `npm run screenshot`: the picture at the top of the README, of the demo as it is after a minute. Needs Chromium, at
 * CHROMIUM_PATH or where Debian puts it, and a build (`npm run build`).
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { chromium } from 'playwright-core'

const LIVED_MS = 90_000
const PICTURE = new URL('../docs/dashboard.png', import.meta.url).pathname

const demo = spawn(process.execPath, ['dist/cli/main.js', 'demo', '--port', '0'], {
  stdio: ['ignore', 'pipe', 'inherit'],
})
try {
  const { url, password } = await readGreeting()
  await sleep(LIVED_MS)
  const browser = await chromium.launch({
    executablePath: process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium',
    args: ['--disable-gpu'],
    chromiumSandbox: false,
  })
  try {
    const page = await browser.newPage({ viewport: { width: 1440, height: 1000 }, colorScheme: 'light' })
    await page.goto(url)
    await page.getByLabel('Password').fill(password)
    await page.getByRole('button', { name: 'Log in' }).click()
    await page.getByText('Throughput').waitFor()
    await page.locator('.uplot').first().waitFor()
    await page.waitForLoadState('load')
    await page.screenshot({ path: PICTURE })
  } finally {
    await browser.close()
  }
} finally {
  demo.kill('SIGTERM')
  if (demo.exitCode === null) await once(demo, 'exit')
}

async function readGreeting(): Promise<{ url: string; password: string }> {
  let text = ''
  for await (const chunk of demo.stdout) {
    text += String(chunk)
    const url = /^\s*dashboard\s+(\S+)/m.exec(text)?.[1]
    const password = /with the password (\S+)/.exec(text)?.[1]
    if (url !== undefined && password !== undefined && text.includes('Ready.')) return { url, password }
  }
  throw new Error(`The demo ended before it was ready:\n${text}`)
}
