import { convert } from 'html-to-text'

interface Element {
  readonly name: string
  readonly attribs: Readonly<Record<string, string>>
}

/** Those that the parser's owner would format in its own way. */
const SPECIAL =
  'a article aside blockquote br div footer form h1 h2 h3 h4 h5 h6 header hr img main nav ol p pre section table ul wbr'

/** Every element of an html with its attributes, as another parser than ours sees them. */
export function elementsOf(html: string): Element[] {
  const elements: Element[] = []
  convert(html, {
    formatters: {
      collect(element, walk, builder) {
        const { name, attribs, children } = element as Element & { children: Parameters<typeof walk>[0] }
        elements.push({ name, attribs: { ...attribs } })
        walk(children, builder)
      },
    },
    baseElements: { selectors: ['html'] },
    selectors: ['*', ...SPECIAL.split(' ')].map((selector) => ({ selector, format: 'collect' })),
  })
  return elements
}
