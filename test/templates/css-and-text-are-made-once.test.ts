import { describe, expect, it } from 'vitest'
import { compileTemplate } from '../../src/templates/compile-template.js'
import { fillIn, parseLiquid } from '../../src/templates/liquid-engine.js'
import { deriveTextSource, inlineStyles, prepareHtml } from '../../src/templates/prepare-html.js'
import { elementsOf } from './html-elements.js'
import { htmlToText } from '../../src/mime/html-to-text.js'

const STYLE =
  '<style>.a { color: red } td { padding: 1px } a:hover { color: blue } @media (max-width: 9px) { .a { color: green } }</style>'
const page = (body: string, style = STYLE) =>
  `<html><head><title>{{ list }}</title>${style}</head><body>${body}</body></html>`
const PEOPLE = [
  { name: 'Ada', vip: true, items: ['x', 'y'], url: 'https://example.com/?a=1&b=2', list: 'News' },
  { name: '<b>&amp; "Bob"', vip: false, items: [], url: '', list: '' },
]

function fill(source: string, data: (typeof PEOPLE)[number]): string {
  const parsed = parseLiquid(source, 'html')
  const filling = parsed.ok ? fillIn(parsed.nodes, 'html', data) : parsed
  if (!filling.ok) throw new Error(filling.detail)
  return filling.text
}

/** What a reader sees, however it is written. Rules that nothing matches may stay in a style element or not. */
const seen = (html: string) => ({ elements: elementsOf(html), text: htmlToText(html) })

describe('CSS is inlined once, where that is the same as inlining every mail', () => {
  it.each([
    [
      'data in text and attributes',
      '<p class="a" title="{{ name }}">Hi {{ name }}</p><a href="{{ url }}">{{ url }}</a>',
      true,
    ],
    ['a condition in a sentence', '<p class="a">Hi {% if vip %}dear {{ name }}{% else %}you{% endif %}</p>', true],
    [
      'a condition around whole elements',
      '{% if vip %}<p class="a">{{ name }}</p>{% else %}<p>x</p>{% endif %}<p class="a">y</p>',
      true,
    ],
    [
      'a loop of whole rows',
      '<table><tbody>{% for i in items %}<tr><td class="a">{{ i }}</td></tr>{% endfor %}</tbody></table>',
      true,
    ],
    [
      'nested blocks',
      '<div>{% for i in items %}<p class="a">{% if vip %}<b>{{ i }}</b>{% endif %}</p>{% endfor %}</div>',
      true,
    ],
    [
      'a loop of rows without their tbody',
      '<table>{% for i in items %}<tr><td class="a">{{ i }}</td></tr>{% endfor %}</table>',
      false,
    ],
    ['a class made of data', '<p class="{{ name }}">x</p>', false],
    ['a condition inside a tag', '<p {% if vip %}class="a"{% endif %}>x</p>', false],
    ['halves of elements in a condition', '{% if vip %}<div class="a">{% else %}<div>{% endif %}x</div>', false],
    ['a paragraph that a block closes', '<p class="a">{% if vip %}<div>x</div>{% endif %}</p>', false],
  ])('%s', (_, body, once) => {
    const source = page(body)
    const prepared = prepareHtml(source)
    expect(prepared.inlineLater).toBe(!once)
    const finish = (html: string) => (prepared.inlineLater ? inlineStyles(html) : html)
    for (const person of PEOPLE)
      expect(seen(finish(fill(prepared.source, person)))).toEqual(seen(inlineStyles(fill(source, person))))
    if (once && body.includes('class="a"')) expect(prepared.source).toContain('color: red')
  })

  it.each([
    'p:first-child { color: red }',
    'p + p { color: red }',
    '[title="x"] { color: red }',
    'p:empty { color: red }',
  ])('not with %s, which depends on what is rendered', (css) => {
    expect(
      prepareHtml(page('{% if vip %}<p>x</p>{% endif %}<p title="{{ name }}">y</p>', `<style>${css}</style>`))
        .inlineLater,
    ).toBe(true)
  })

  it('keeps what cannot be inlined, fetches nothing, and leaves html without CSS as it is', () => {
    const inlined = inlineStyles(page('<p class="a">x</p><link rel="stylesheet" href="file:///etc/hostname">'))
    expect(inlined).toContain('a:hover')
    expect(inlined).toContain('@media')
    expect(inlined).toContain('href="file:///etc/hostname"')
    const fragment = '<p>{{ name }}<p>{% if vip %}<td>'
    expect(prepareHtml(fragment)).toEqual({ source: fragment, inlineLater: false })
  })
})

describe('the text part is derived once, where that is the same', () => {
  it.each([
    ['<p>Hi {{ name }}, see <a href="{{ url }}">this</a> or <a href="{{ url }}">{{ url }}</a></p>', true],
    ['<p>Hi {% if vip %}dear {{ name }}{% else %}you{% endif %}</p><ul><li>{{ name }}</li></ul>', true],
    ['<ul>{% for i in items %}<li>{{ i }}</li>{% endfor %}</ul>', false],
    ['<p>{{ name | escape }}</p>', false],
    ['<p>{% if vip %}a &amp; b{% endif %}</p>', false],
    ['<p>&#123;&#123; name }}</p>', false],
  ])('%s', (body, once) => {
    const derived = deriveTextSource(body)
    expect(derived !== null).toBe(once)
    const compiled = compileTemplate({ subject: 'S', html: body, text: null })
    if (!compiled.ok) throw new Error('not valid')
    const rendered = compiled.template.render(PEOPLE[0]!)
    expect(rendered).toMatchObject({ ok: true, text: htmlToText(fill(body, PEOPLE[0]!)) })
  })
})
