import { RequestError } from './problem.js'

/**
 * Another site must not be able to act with the cookie of somebody who is logged in. Browsers let no other site set a
 * header of its own unless we agree, and we never do; and they say where a request comes from. The cookie itself is not
 * sent from other sites either: each of the three would do alone.
 */
export const DASHBOARD_HEADER = 'X-Postrider-Dashboard'

export function refuseCrossSite(request: Request, publicUrl: string): void {
  const { headers } = request
  if (headers.get(DASHBOARD_HEADER) !== '1')
    throw refused(
      `Send the header ${DASHBOARD_HEADER}: 1, which only the dashboard's own pages can; or use an API key.`,
    )
  const site = headers.get('sec-fetch-site')
  if (site !== null && site !== 'same-origin')
    throw refused('A page of another site asked for this. Open the dashboard itself and do it there.')
  const origin = headers.get('origin')
  if (origin === null || isOwn(origin, request.url, publicUrl)) return
  throw refused(
    `This came from ${shown(origin)}, and this server knows itself as ${new URL(request.url).host} and ${new URL(publicUrl).origin}. If that is where the dashboard is reached, set PUBLIC_URL to it.`,
  )
}

/** The scheme is left out: behind a proxy that ends TLS it is not ours to know. */
function isOwn(origin: string, url: string, publicUrl: string): boolean {
  if (!URL.canParse(origin)) return false
  const { host, origin: canonical, protocol } = new URL(origin)
  return /^https?:$/.test(protocol) && (host === new URL(url).host || canonical === new URL(publicUrl).origin)
}

const shown = (origin: string) => (URL.canParse(origin) ? new URL(origin).origin : 'a page without an origin')

const refused = (detail: string) => new RequestError('cross_site_request', detail)
