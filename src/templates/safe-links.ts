/** Attributes that are followed, by a click or by themselves. */
const FOLLOWED = new Set([
  'href',
  'xlink:href',
  'action',
  'formaction',
  'src',
  'background',
  'poster',
  'longdesc',
  'cite',
])
const LINK = /\b(xlink:href|href|formaction|action|src|background|poster|longdesc|cite)(\s*=\s*)("[^"]*"|'[^']*')/gi
/** Images may be embedded; a link to a page that somebody wrote into their own name may not. */
const EMBEDDED = new Set(['src', 'background', 'poster'])

const ENTITIES: Readonly<Record<string, string>> = { colon: ':', tab: '\t', newline: '\n', amp: '&' }

/** Nothing but these can run, or show what nobody checked, in the name of who is looking at the mail. */
export function isUnsafeLink(attribute: string, value: string): boolean {
  const name = attribute.toLowerCase()
  if (!FOLLOWED.has(name) && name !== 'data') return false
  // As browsers read it: entities decoded, white space and control characters before and inside the scheme left out.
  const read = decode(value).replaceAll(/[\p{Cc}\s]+/gu, '')
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(read)?.[1]?.toLowerCase()
  return scheme === 'javascript' || scheme === 'vbscript' || (scheme === 'data' && !EMBEDDED.has(name))
}

/** Links that became unsafe by the data lead nowhere. */
export const neutraliseLinks = (html: string): string =>
  html.replaceAll(LINK, (whole, name: string, equals: string, quoted: string) =>
    isUnsafeLink(name, quoted.slice(1, -1)) ? `${name}${equals}"#"` : whole,
  )

const decode = (value: string): string =>
  value.includes('&')
    ? value.replaceAll(/&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|([a-z]+));?/gi, (whole, hex, decimal, name) => {
        if (name !== undefined) return ENTITIES[(name as string).toLowerCase()] ?? whole
        const code = hex === undefined ? Number(decimal) : Number.parseInt(hex as string, 16)
        return code <= 0x10ffff ? String.fromCodePoint(code) : whole
      })
    : value
