import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compileTemplate } from '../../src/templates/compile-template.js'
import { findTemplateProblems } from '../../src/templates/find-problems.js'
import { elementsOf } from './html-elements.js'

const HTML = `<html><head><title>{{ contact.name }}</title><style>.a { color: red }</style></head><body>
<p class="a" title='{{ contact.name }}'>Hi {{ contact.name }} {% echo contact.name %} {% cycle contact.name, "b" %}</p>
<!-- {{ contact.name }} --><a href="{{ contact.url }}">{{ contact.name | newline_to_br }} {{ contact.name | escape }}</a>
<a href="{{ contact.name }}{{ contact.url }}" data-x="{{ contact | json }}">x</a><textarea>{{ contact.name }}</textarea>
{% capture c %}{{ contact.name }}{% endcapture %}{{ c }}</body></html>`

function compile(html: string, text: string | null = null) {
  const compiled = compileTemplate({ subject: 'Hi {{ contact.name }}', html, text })
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.problems))
  return compiled.template
}

const nasty = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc
    .array(
      fc.constantFrom(
        '<b>',
        '</p>',
        '"',
        "'",
        '<!--',
        '-->',
        '&',
        '>',
        '=',
        ' onclick=x ',
        '\r\n',
        'javascript:',
        '{{',
        '}}',
        '{% raw %}',
        '</title>',
        '<script>',
        '\0',
        '\u2028',
        '\ud800',
        '`',
        'java\tscript:',
      ),
      { maxLength: 12 },
    )
    .map((parts) => parts.join('')),
)

describe('data is only data', () => {
  const template = compile(HTML)
  const shapeOf = (html: string) =>
    elementsOf(html).map(({ name, attribs }) => `${name}[${Object.keys(attribs).join()}]`)
  const render = (name: string, url: string) => {
    const rendered = template.render({ contact: { name, url } })
    if (!rendered.ok) throw new Error(rendered.problem)
    return rendered
  }
  // newline_to_br makes elements of line breaks, and of nothing else.
  const plain = shapeOf(render('Ada', 'https://example.com').html!)

  it('makes no element and no attribute, and keeps the subject one line, whatever it is', () => {
    fc.assert(
      fc.property(nasty, nasty, (name, url) => {
        const { html, subject, text } = render(name, url)
        expect(shapeOf(html!).filter((shape) => shape !== 'br[]')).toEqual(plain)
        expect(subject).not.toMatch(/[\p{Cc}\u2028\u2029]/u)
        for (const part of [html!, subject, text!]) expect(part.isWellFormed() && !part.includes('\0')).toBe(true)
      }),
      {
        numRuns: 150,
        examples: [
          ['<script>alert(1)</script>', 'x" onclick="y'],
          ['\r\nBcc: a@b.c', "'><img src=x>"],
        ],
      },
    )
  })

  it('is never a link that runs', () => {
    const links = [
      'javascript:alert(1)',
      ' JaVaScRiPt:alert(1)',
      'java\tscript:alert(1)',
      '\u0001javascript:x',
      'vbscript:x',
      'data:text/html,<script>',
      'javascript&colon;x'.replace('&colon;', ':'),
    ]
    for (const url of links) {
      const [first, second] = elementsOf(render('', url).html!).filter(({ name }) => name === 'a')
      expect([url, first!.attribs['href'], second!.attribs['href']]).toEqual([url, '#', '#'])
    }
    for (const url of ['https://example.com/?a=javascript:1', 'mailto:a@b.c', '/data:x', 'javascript&colon;x']) {
      const [first] = elementsOf(render('', url).html!).filter(({ name }) => name === 'a')
      expect(first!.attribs['href']).toBe(url)
    }
    const halves = compile('<a href="{{ contact.a }}{{ contact.b }}">x</a>').render({
      contact: { a: 'java', b: 'script:x', name: 'Ada' },
    })
    expect(halves).toMatchObject({ ok: true, html: '<a href="#">x</a>' })
  })

  it.each([
    ['<a href={{ x }}>', 'needs quotes'],
    ['<a href= {{ x }}>', 'needs quotes'],
    ['<a href=x{{ x }}>', 'needs quotes'],
    ['<p {{ x }}>', 'must not stand inside a tag'],
    ['<{{ x }}>', 'must not stand inside a tag'],
    ['<p da{{ x }}="1">', 'must not stand inside a tag'],
    ['<style>p { color: {{ x }} }</style>', 'inside <style>'],
    ['<script>{{ x }}</script>', 'inside <script>'],
    ['<p onclick="{{ x }}">', 'must not stand in onclick'],
    ['<a href="javascript:x">', 'must not be a javascript:'],
    ["<a\nhref = 'java&#x09;script:x'>", 'must not be a javascript:'],
    ['<a href="&#106;avascript&colon;x">', 'must not be a javascript:'],
    ['<a href="data:text/html,x">', 'must not be a javascript:'],
    ['<a href="vbscript:{{ x }}">', 'must not be a javascript:'],
    ['{{ x | raw }}', 'must not use the filter raw'],
  ])('must not stand where nothing protects it: %s', (html, why) => {
    expect(findTemplateProblems({ subject: 'S', html, text: null })).toEqual([
      { path: ['html'], detail: expect.stringContaining(why) },
    ])
  })

  it.each([
    '<a href = "{{ x }}">',
    '<a {% if x %}href=\'{{ x }}\'{% endif %} title="{{ x }}">',
    '<img src="data:image/png;base64,AA==">',
    '<a href="{{ x }}?a=1&amp;b={{ y }}">a < b {{ x }}</a>',
    '<!-- <a href={{ x }}> --><p>{{ x }}</p><br/>{{ y }}',
    '<style>a > b { color: red }</style><p>{{ x }}</p>',
  ])('and may stand in text and quotes: %s', (html) => {
    expect(findTemplateProblems({ subject: 'S', html, text: null })).toEqual([])
  })
})
