import { escapeHtml } from '../domain/escape-html.js'
import { createHash } from 'node:crypto'
import type { Subscription } from '../operations/unsubscribe.js'

/** What somebody sees who follows the link at the end of a mail. One page, nothing from elsewhere, no script. */
const STYLE = `
:root { color-scheme: light dark; --ink: #1c2733; --soft: #55647a; --line: #dde4ec; --page: #f4f6f9; --card: #fff;
  --accent: #0b5cb8; --on-accent: #fff; }
@media (prefers-color-scheme: dark) { :root { --ink: #e3e9f0; --soft: #9dacbe; --line: #2c3948; --page: #0f151c;
  --card: #18212b; --accent: #7ab8ff; --on-accent: #0b1420; } }
* { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; min-height: 100svh; display: grid; place-items: center; padding: 1.25rem;
  font: 1.0625rem/1.6 system-ui, -apple-system, "Segoe UI", sans-serif; color: var(--ink); background: var(--page); }
main { width: 100%; max-width: 27rem; padding: 2rem; background: var(--card); border: 1px solid var(--line);
  border-radius: .9rem; }
h1 { margin: 0 0 .6rem; font-size: 1.4rem; line-height: 1.3; text-wrap: balance; }
p { margin: 0 0 1.1rem; overflow-wrap: anywhere; }
p:last-child, form { margin: 0; }
.soft { color: var(--soft); font-size: .95rem; }
button { width: 100%; min-height: 3rem; padding: .6rem 1.25rem; font: inherit; font-weight: 600; border-radius: .6rem;
  border: 1px solid var(--accent); background: var(--accent); color: var(--on-accent); cursor: pointer; }
button.quiet { background: none; color: var(--accent); }
button:hover { filter: brightness(1.08); }
button:focus-visible { outline: 3px solid var(--accent); outline-offset: 3px; }
`

const POLICY =
  `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; ` +
  `form-action 'self'; base-uri 'none'; frame-ancestors 'none'`

export function subscriptionPage({ listName, maskedAddress, optedOut }: Subscription): Response {
  const list = `<strong>${escapeHtml(listName)}</strong>`
  const address = `<strong>${escapeHtml(maskedAddress)}</strong>`
  return optedOut
    ? page(
        200,
        'You are unsubscribed',
        `<p role="status">${address} gets no more mail of the list ${list}.</p>
<p class="soft">A mistake? You can come back with one click.</p>
<form method="post"><button class="quiet" name="action" value="resubscribe">Subscribe again</button></form>`,
      )
    : page(
        200,
        'Unsubscribe?',
        `<p>One click, and ${address} gets no more mail of the list ${list}.</p>
<form method="post"><button name="action" value="unsubscribe">Unsubscribe</button></form>`,
      )
}

export const unknownLinkPage = (): Response =>
  page(
    404,
    'This link does not work',
    `<p>It is not complete, or the list it belongs to is gone.</p>
<p class="soft">If the mail program broke the link in two, copy all of it into the address bar.</p>`,
  )

export const laterPage = (): Response =>
  page(503, 'Not right now', '<p>We cannot save your choice at the moment. Please try again in a minute.</p>')

function page(status: number, title: string, content: string): Response {
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex, nofollow">
<meta name="referrer" content="no-referrer">
<title>${title}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>${title}</h1>
${content}
</main>
</body>
</html>
`
  return new Response(html, {
    status,
    headers: {
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': POLICY,
      'Referrer-Policy': 'no-referrer',
      'X-Robots-Tag': 'noindex, nofollow',
      ...(status === 503 && { 'Retry-After': '60' }),
    },
  })
}
