import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { extname, join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { RequestError } from './problem.js'

/**
 * The dashboard as it was built into the package: files by name, and its one page for everything else under `/admin`.
 *
 * The page's addresses are relative to where `/admin` is, and only the browser knows where that is: a proxy or another
 * server may have taken a prefix away. What is known here is how deep below `/admin` the page was asked for, so the page
 * is told its base as so many steps up.
 */
export interface DashboardFiles {
  answer(request: Request, path: string): Response
}

interface File {
  readonly body: Uint8Array<ArrayBuffer>
  readonly gzip: Uint8Array<ArrayBuffer> | null
  readonly type: string
  readonly etag: string
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}
/** Beside this file in the package; where the build puts it, when this runs from its source. */
const PLACES = ['../dashboard', '../../dist/dashboard']

/**
 * Scripts come from here only. Pictures of a previewed email may come from anywhere, but its frame has a stricter policy
 * of its own until somebody asks for them.
 */
const POLICY = [
  `default-src 'none'`,
  `script-src 'self'`,
  `style-src 'self' 'unsafe-inline'`,
  `img-src 'self' data: blob: http: https:`,
  `connect-src 'self'`,
  `frame-src 'self' blob:`,
  `base-uri 'self'`,
  `form-action 'self'`,
  `frame-ancestors 'none'`,
].join('; ')

export function createDashboardFiles(directory?: string): DashboardFiles {
  let files: ReadonlyMap<string, File> | undefined
  return {
    answer(request, path) {
      files ??= readFiles(directory)
      const page = files.get('index.html')
      if (!page)
        throw new RequestError('not_found', 'The dashboard is not part of this build. From a checkout: npm run build.')
      const name = path.replace(/^\/admin\/?/, '')
      const file = files.get(name)
      if (file && file !== page)
        return respond(request, file, name.startsWith('assets/') ? 'public, max-age=31536000, immutable' : 'no-cache')
      if (name.startsWith('assets/')) throw new RequestError('not_found', 'There is no such file. Load the page again.')
      return respond(request, withBase(page, path), 'no-cache', { 'Content-Security-Policy': POLICY })
    },
  }
}

function withBase(page: File, path: string): File {
  const depth = path.split('/').length - 3
  const base = depth < 0 ? 'admin/' : depth === 0 ? './' : '../'.repeat(depth)
  return toFile('.html', Buffer.from(page.body).toString().replace('<head>', `<head><base href="${base}">`))
}

function respond(request: Request, { body, gzip, type, etag }: File, cache: string, more: Record<string, string> = {}) {
  const headers = { 'Content-Type': type, 'Cache-Control': cache, ETag: etag, Vary: 'Accept-Encoding', ...more }
  if (request.headers.get('if-none-match')?.includes(etag)) return new Response(null, { status: 304, headers })
  const zipped = gzip && /\bgzip\b/.test(request.headers.get('accept-encoding') ?? '')
  return new Response(zipped ? gzip : body, { headers: zipped ? { ...headers, 'Content-Encoding': 'gzip' } : headers })
}

function readFiles(given: string | undefined): ReadonlyMap<string, File> {
  const usual = PLACES.map((place) => fileURLToPath(new URL(place, import.meta.url)))
  for (const directory of given === undefined ? usual : [given]) {
    const names = list(directory)
    if (names.includes('index.html'))
      return new Map(names.map((name) => [name, toFile(extname(name), readFileSync(join(directory, name)))]))
  }
  return new Map()
}

function list(directory: string): string[] {
  try {
    const entries = readdirSync(directory, { recursive: true, encoding: 'utf8' })
    return entries.map((name) => name.replaceAll(sep, '/')).filter((name) => extname(name) in TYPES)
  } catch {
    return []
  }
}

function toFile(extension: string, content: string | Buffer): File {
  const body = new Uint8Array(Buffer.from(content))
  const zipped = new Uint8Array(gzipSync(body))
  return {
    body,
    gzip: zipped.length < body.length ? zipped : null,
    type: TYPES[extension] ?? 'application/octet-stream',
    etag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`,
  }
}
