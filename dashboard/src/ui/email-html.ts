/** What an email's html becomes before it is shown, so that it can run nothing, lead nowhere and load nothing unasked. */
export interface ShownHtml {
  readonly document: string
  /** Whose pictures it would load, once somebody asks for them. */
  readonly pictureHosts: readonly string[]
}

/**
 * The frame is what makes it safe (`sandbox=""`: no scripts, no forms, no windows) together with the policy. What is taken
 * out here is what neither of them covers: links by which a browser looks up or connects to a host before anything is
 * loaded from it, and anything that would answer for where the frame's own addresses lead.
 */
const TAKEN_OUT = 'script, link, meta, base, iframe, frame, frameset, object, embed, applet, portal, template'

const policyOf = (pictures: boolean) =>
  `default-src 'none'; style-src 'unsafe-inline'; img-src data:${pictures ? ' http: https:' : ''}; form-action 'none'; base-uri 'none'`

const REMOTE = /(?:https?:)?\/\/([^\s/?#"'()<>\\:]+)/gi

export function prepareHtml(
  html: string,
  { pictures, inline }: { readonly pictures: boolean; readonly inline: ReadonlyMap<string, string> },
): ShownHtml {
  // A document that nobody looks at: parsing it loads nothing and runs nothing.
  const parsed = new DOMParser().parseFromString(html, 'text/html')
  for (const element of parsed.querySelectorAll(TAKEN_OUT)) element.remove()
  for (const image of parsed.querySelectorAll('[src^="cid:" i]')) {
    const found = inline.get(decodeCid(image.getAttribute('src') ?? ''))
    if (found === undefined) image.removeAttribute('src')
    else image.setAttribute('src', found)
  }
  const pictureHosts = findHosts(parsed)
  // The policy would refuse them as well, and the browser would complain of each. Without an address it shows the words.
  if (!pictures)
    for (const name of ['src', 'srcset', 'background', 'poster'])
      for (const element of parsed.querySelectorAll(`[${name}]`))
        if (!/^\s*data:/i.test(element.getAttribute(name) ?? '')) element.removeAttribute(name)
  const head = parsed.createElement('div')
  head.innerHTML = [
    `<meta http-equiv="Content-Security-Policy" content="${policyOf(pictures)}">`,
    '<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width">',
    '<meta name="referrer" content="no-referrer">',
    '<base target="_blank">',
  ].join('')
  parsed.head.prepend(...head.childNodes)
  return { document: `<!doctype html>${parsed.documentElement.outerHTML}`, pictureHosts }
}

function decodeCid(source: string): string {
  const id = source.slice('cid:'.length)
  try {
    return decodeURIComponent(id)
  } catch {
    return id
  }
}

/** Wherever an address of a picture can stand: in attributes, and in style sheets. */
function findHosts(parsed: Document): string[] {
  const texts: string[] = []
  for (const element of parsed.querySelectorAll('[src], [srcset], [background], [poster], [style], image'))
    for (const { name, value } of element.attributes)
      if (/^(?:src|srcset|background|poster|href|xlink:href)$/i.test(name)) texts.push(value)
      else if (name === 'style' && /url\(|image-set\(/i.test(value)) texts.push(value)
  for (const style of parsed.querySelectorAll('style'))
    for (const [, address] of (style.textContent ?? '').matchAll(/url\(\s*["']?([^"')]+)/gi)) texts.push(address!)
  return [...new Set(texts.flatMap((text) => [...text.matchAll(REMOTE)].map(([, host]) => host!.toLowerCase())))]
}
