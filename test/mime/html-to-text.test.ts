import { describe, expect, it } from 'vitest'
import { htmlToText } from '../../src/mime/html-to-text.js'

/** Processor time, because the clock on the wall also counts what else the machine is doing. */
function cpuMs(work: () => void): number {
  const started = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(started)
  return (user + system) / 1_000
}

describe('the text of an html', () => {
  it('keeps what a reader needs', () => {
    const html = `<!doctype html><html><head><title>T</title><style>p{color:red}</style></head><body><!-- hidden -->
      <h1>Hello Ada</h1>
      <p>Read <a href="https://x.org/?a=1&amp;b=2">this</a> or <a href="https://x.org">https://x.org</a>.</p>
      <img src="https://tracker.example/x.gif" alt="logo">
      <table><tr><th>Item</th><th>Price</th></tr><tr><td>Tea</td><td>3 €</td></tr></table>
      <ul><li>one<li>two</ul><script>alert(1)</script></body></html>`
    expect(htmlToText(html).split('\n')).toEqual([
      'Hello Ada',
      '',
      'Read this [https://x.org/?a=1&b=2] or https://x.org.',
      '',
      'Item Price',
      'Tea 3 €',
      '',
      ' * one',
      ' * two',
    ])
  })

  it.each([
    ['', ''],
    ['plain', 'plain'],
    ['a<br>b', 'a\nb'],
    ['a &lt;b&gt; &amp; c&nbsp;d', 'a <b> & c\u00A0d'],
    ['<p>Grüße 🚀</p>', 'Grüße 🚀'],
    ['<!--[if mso]>outlook<![endif]-->shown', 'shown'],
    ['<!--[if !mso]><!-->shown<!--<![endif]-->', 'shown'],
    ['a<style>b', 'a'],
    ['<img src="data:image/png;base64,AAAA">x', 'x'],
    ['<SCRIPT>a</SCRIPT >b', 'b'],
  ])('of %j is %j', (html, text) => {
    expect(htmlToText(html)).toBe(text)
  })

  it('is cut where nobody reads on, and says so', () => {
    const text = htmlToText('<p>word</p>'.repeat(400_000))
    expect(text.length).toBeLessThan(500_000)
    expect(text.endsWith('\n…')).toBe(true)
    expect(htmlToText(`<style>${'a'.repeat(4_000_000)}</style><p>word</p>`)).toBe('word')
    expect(htmlToText(`<img src="data:image/png;base64,${'A'.repeat(4_000_000)}"><p>word</p>`)).toBe('word')
  })

  const size = 5_000_000
  const fill = (text: string) => text.repeat(Math.ceil(size / text.length))

  it.each([
    '<p>Hello <b>w</b> <a href="https://x.org/a">link</a></p>',
    '<tr><td>a</td><td>b</td></tr>',
    '<div>',
    '<b>',
    '<blockquote>',
    '<ul><li>x',
    '<table><tr><td>x',
    '<b></i>',
    '<td><p>',
    '<p>',
    '<br>',
    '</p>',
    '<',
    '<a ',
    '&',
    '<!--',
    '<style>',
    '<script></script',
    'data:a;base64,',
    'a b ',
    ' ',
    '\n',
  ])('takes no more than a moment for 5 MB of %j', (piece) => {
    const html = fill(piece)
    expect(cpuMs(() => htmlToText(html))).toBeLessThan(2_000)
  })

  it('takes no more than a moment for spaces inside a line', () => {
    expect(cpuMs(() => htmlToText(`<pre>a${' '.repeat(400_000)}b</pre>`))).toBeLessThan(2_000)
  })

  it.each(['b', 'div', 'blockquote', 'ul', 'ol', 'table'])('survives %s within itself for ever', (tag) => {
    for (const depth of [250, 350, 1_900, 2_100, 100_000])
      expect(() => htmlToText(`<${tag}>`.repeat(depth))).not.toThrow()
  })
})
