import { describe, expect, it } from 'vitest'
import { compileTemplate } from '../../src/templates/compile-template.js'
import { findTemplateProblems, type TemplateSource } from '../../src/templates/find-problems.js'
import { findVariables } from '../../src/templates/find-variables.js'
import { type Data, TEMPLATE_LIMITS } from '../../src/templates/liquid-engine.js'

const template = (source: Partial<TemplateSource>): TemplateSource => ({
  subject: 'S',
  html: null,
  text: null,
  ...source,
})

function render(source: Partial<TemplateSource>, data: Data = {}) {
  const compiled = compileTemplate(template(source))
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.problems))
  return compiled.template.render(data)
}

const problemsOf = (source: Partial<TemplateSource>) => findTemplateProblems(template(source))

describe('a template ends, whatever it says', () => {
  it.each([
    [
      'a loop without an end',
      '{% for i in (1..3000) %}{% for j in (1..3000) %}{% for k in (1..3000) %}{% endfor %}{% endfor %}{% endfor %}',
    ],
    ['a list of a billion', '{% for i in (1..1000000000) %}x{% endfor %}'],
    ['an output of gigabytes', `{% for i in (1..9000) %}${'x'.repeat(1_000)}{% endfor %}`],
    [
      'a variable that doubles',
      '{% assign a = "xxxxxxxx" %}{% for i in (1..60) %}{% capture a %}{{ a }}{{ a }}{% endcapture %}{% endfor %}',
    ],
    [
      'a filter that doubles',
      '{% assign a = "xxxxxxxx" %}{% for i in (1..60) %}{% assign a = a | append: a %}{% endfor %}{{ a }}',
    ],
    ['a width of megabytes', '{{ "2026-01-01" | date: "%999999999d" }}'],
  ])('with %s', (_, text) => {
    for (const part of [{ text }, { html: text }]) {
      const before = process.memoryUsage().rss
      expect(render(part)).toMatchObject({
        ok: false,
        missing: [],
        problem: expect.stringMatching(/takes longer|more than|memory/),
      })
      expect(process.memoryUsage().rss - before).toBeLessThan(400_000_000)
    }
  })

  it('and is refused when it is too long to be meant', () => {
    expect(problemsOf({ text: 'x'.repeat(TEMPLATE_LIMITS.sourceLength + 1) })).toEqual([
      { path: ['text'], detail: 'may have 500000 characters' },
    ])
  })
})

describe('a template reaches nothing but its data', () => {
  it.each(['include', 'render', 'layout', 'block'])('not by {%% %s %%}', (tag) => {
    expect(problemsOf({ html: `<p>\n  {% ${tag} "/etc/passwd" %}` })).toEqual([
      { path: ['html'], detail: expect.stringMatching(`^{% ${tag} %} is not supported.*line 2, column 3`) },
    ])
  })

  it('not by prototypes', () => {
    const text =
      '{{ contact.constructor }}|{{ contact.__proto__ }}|{{ contact.toString }}|{{ contact.tags.map }}|{{ contact.tags | map: "constructor" }}'
    const rendered = render({ text }, { contact: { tags: ['a'] } })
    expect(rendered).toMatchObject({ ok: false, parts: { text: '||||' } })
  })

  it('and says where it is wrong', () => {
    expect(problemsOf({ subject: '{{ a', html: 'x\n\n  {{ a | upcas }}', text: '{% if a %}' })).toEqual([
      { path: ['subject'], detail: 'output "{{ a" not closed (line 1, column 1)' },
      { path: ['html'], detail: 'undefined filter: upcas (line 3, column 3)' },
      { path: ['text'], detail: 'tag {% if a %} not closed (line 1, column 1)' },
    ])
    expect(problemsOf({ subject: ' ' })).toHaveLength(2)
  })
})

describe('what is missing is said', () => {
  const data = { contact: { name: 'Ada', plan: null, address: { city: null } } }

  it.each([
    ['{{ contact.first_name }}', ['contact.first_name']],
    ['{{ contact.plan }}', ['contact.plan']],
    ['{{ contact.plan | upcase }}', ['contact.plan']],
    ['{{ contact.name | append: contact.plan }}', ['contact.plan']],
    ['{{ contact.address.city }} {{ company }}', ['contact.address.city', 'company']],
    ['{% for line in order.lines %}{{ line }}{% endfor %}', ['order.lines']],
    ['{% echo contact.plan %}{% cycle contact.plan, "b" %}', ['contact.plan']],
    ['{% if contact.name %}{{ contact.plan }}{% endif %}', ['contact.plan']],
  ])('%s', (text, missing) => {
    expect(render({ text }, data)).toMatchObject({
      ok: false,
      missing,
      problem: `There is no value for ${missing.join(', ')}.`,
    })
  })

  it.each([
    ['{{ contact.plan | default: "free" }}', 'free'],
    ['{{ contact.plan | upcase | default: "free" }}', 'free'],
    ['{% if contact.plan %}a{% else %}b{% endif %}', 'b'],
    ['{% if contact.plan == "pro" and contact.x > 3 %}a{% elsif contact.y contains "z" %}c{% else %}b{% endif %}', 'b'],
    ['{% unless contact.plan %}b{% endunless %}', 'b'],
    ['{% case contact.plan %}{% when "pro" %}a{% else %}b{% endcase %}', 'b'],
    ['{% if contact.plan %}{{ contact.plan }}{% endif %}{{ contact.name }}', 'Ada'],
    ['{% assign n = contact.plan | default: "x" %}{{ n }}', 'x'],
    ['{% for i in (1..2) %}{{ forloop.index }}{% endfor %}', '12'],
  ])('%s can do without', (text, shown) => {
    expect(render({ text }, data)).toEqual({ ok: true, subject: 'S', html: null, text: shown })
  })

  it('and what is spoken of is listed', () => {
    expect(
      findVariables(
        template({
          subject: '{{ b }}',
          html: '{% if contact.x %}{{ contact.name }}{% endif %}{% assign l = 1 %}{{ l }}',
        }),
      ),
    ).toEqual(['b', 'contact.name', 'contact.x'])
  })
})
