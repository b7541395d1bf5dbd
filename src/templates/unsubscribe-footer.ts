import { escapeHtml } from '../domain/escape-html.js'
/** A visible way out, in every part that has none. */
interface Bodies {
  readonly html: string | null
  readonly text: string | null
}

/** Looked for in what was rendered: a link inside a condition that did not hold is no link. */
export function withUnsubscribeLink({ html, text }: Bodies, url: string, listName: string): Bodies {
  const href = escapeHtml(url)
  return {
    html: html === null || html.includes(href) ? html : insertBeforeEnd(html, htmlFooter(href, escapeHtml(listName))),
    text: text === null || text.includes(url) ? text : `${text.trimEnd()}\n\n-- \nUnsubscribe: ${url}\n`,
  }
}

const htmlFooter = (href: string, listName: string) =>
  '<p style="margin:32px 0 16px;text-align:center;font:12px/1.5 sans-serif;color:#6b7280">' +
  `You get this mail because you are on the list “${listName}”. ` +
  `<a href="${href}" style="color:#6b7280;text-decoration:underline">Unsubscribe</a></p>`

function insertBeforeEnd(html: string, footer: string): string {
  const end = Math.max(html.toLowerCase().lastIndexOf('</body'), -1)
  const at = end === -1 ? html.toLowerCase().lastIndexOf('</html') : end
  return at === -1 ? `${html}${footer}` : `${html.slice(0, at)}${footer}${html.slice(at)}`
}
