/** What Quince & Fig, the seed shop of the demo, writes. Liquid, as users write it. */
export interface TemplateText {
  readonly name: string
  readonly subject: string
  readonly html: string
}

const STYLE = `
  body { margin: 0; background: #f4f1ea; color: #2f3a2b; font-family: Georgia, serif; }
  .sheet { max-width: 560px; margin: 0 auto; padding: 32px 24px; background: #ffffff; }
  h1 { font-size: 24px; margin: 0 0 16px; color: #3d6b35; }
  p, li { font-size: 16px; line-height: 1.6; }
  .button { display: inline-block; padding: 10px 18px; background: #3d6b35; color: #ffffff; text-decoration: none; }
  .small { font-size: 13px; color: #77806f; }
  table { width: 100%; border-collapse: collapse; }
  td { padding: 6px 0; border-bottom: 1px solid #e4e0d4; }
  @media (max-width: 480px) { .sheet { padding: 20px 16px; } }`

const page = (title: string, body: string) => `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>${title}</title><style>${STYLE}</style></head>
<body><div class="sheet">
<h1>${title}</h1>
${body}
</div></body>
</html>`

const link = (path: string, text: string) =>
  `<p><a class="button" href="https://quince.example/${path}">${text}</a></p>`
const signed = '<p>Warm regards,<br>{{ sender.name | default: "Quince &amp; Fig" }}</p>'
const leave =
  '<p class="small">You get this as a reader of {{ list.name }}. <a href="{{ unsubscribe_url }}">Stop it</a> any time.</p>'

export const TEMPLATES = {
  letter: {
    name: 'Seed Letter',
    subject: '{{ contact.first_name | default: "Hello" }}, what to sow this month',
    html: page(
      'What to sow this month',
      `<p>Dear {{ contact.first_name | default: "gardener" }},</p>
<p>the nights in {{ contact.city | default: "your town" }} grow longer, and that is no reason to stop. Broad beans and garlic like it cool.</p>
{% if contact.garden == "balcony" or contact.garden == "windowsill" %}<p>On a {{ contact.garden }}, try lamb's lettuce: a box as long as your arm feeds two.</p>{% else %}<p>Your {{ contact.garden | default: "garden" }} has room for a row of both.</p>{% endif %}
${link('letter', 'Read the whole letter')}
${signed}
${leave}`,
    ),
  },
  workshop: {
    name: 'Workshop invitation',
    subject: 'A place is kept for you, {{ contact.first_name }}',
    html: page(
      'Saving your own seeds',
      `<p>Dear {{ contact.first_name }},</p>
<p>last year you were with us when we grafted apple trees. This time it is about seeds: which to keep, how to dry them, and why tomatoes have to ferment first.</p>
${link('workshops/seeds', 'See the programme')}
${signed}
${leave}`,
    ),
  },
  survey: {
    name: 'Two questions',
    subject: 'Two questions about your {{ contact.garden }}',
    html: page(
      'Two questions',
      `<p>Dear {{ contact.first_name }}, what did well on your {{ contact.garden }} this year, and what would you never sow again?</p>
${link('survey', 'Answer in a minute')}
${signed}
${leave}`,
    ),
  },
  sale: {
    name: 'End of the season',
    subject: 'Last bags of this year’s harvest',
    html: page(
      'Last bags of the harvest',
      `<p>Dear {{ contact.first_name | default: "gardener" }}, before the new seeds come in we make room: everything of this year at half the price.</p>
${link('sale', 'Look what is left')}
${leave}`,
    ),
  },
  welcome: {
    name: 'First gardens: welcome',
    subject: 'Your first garden begins here',
    html: page(
      'Welcome, {{ contact.first_name }}',
      `<p>Your seeds are on their way to {{ contact.city }}. While they travel, find the sunniest hour of your {{ contact.garden }}: it decides what will like it there.</p>
${link('guide', 'Get the planting guide')}
${signed}`,
    ),
  },
  guide: {
    name: 'First gardens: the guide',
    subject: 'The planting guide you asked for',
    html: page(
      'Sow, water, wait',
      `<p>{{ contact.first_name }}, here it is.</p>
<ol><li>Sow as deep as the seed is thick.</li><li>Water from below.</li><li>Wait. Nothing happens for a week, and then everything does.</li></ol>
${signed}`,
    ),
  },
  nudge: {
    name: 'First gardens: a nudge',
    subject: 'Did the seeds arrive?',
    html: page(
      'Did the seeds arrive?',
      `<p>{{ contact.first_name }}, if the bag still lies on the table, that is fine: it keeps for three years. Your {{ contact.garden }} would like it sooner.</p>
${link('guide', 'How to begin')}
${signed}`,
    ),
  },
  offer: {
    name: 'First gardens: more room',
    subject: 'Seeds for a whole {{ contact.garden }}',
    html: page(
      'There is room for more',
      `<p>{{ contact.first_name }}, with {{ contact.orders }} orders so far you know what you like. For a whole {{ contact.garden }} we would add pumpkins, and a friend to carry them.</p>
${link('shop', 'Choose some')}
${signed}`,
    ),
  },
  sprouts: {
    name: 'First gardens: sprouts',
    subject: 'Are they up yet?',
    html: page(
      'Are they up yet?',
      `<p>{{ contact.first_name }}, by now the first green should show on your {{ contact.garden }}. If it does not, it is nearly always the cold: a sheet of glass helps.</p>
${link('help', 'Ask us')}
${signed}`,
    ),
  },
  jars: {
    name: 'Seed savers: jars',
    subject: 'Jars, and why they have to be dry',
    html: page(
      'Jars',
      `<p>{{ contact.first_name }}, seeds live longest where it is dry, dark and cool. Collect jars until we meet; any will do that closes.</p>
${signed}`,
    ),
  },
  swap: {
    name: 'Seed savers: swap',
    subject: 'What would you bring to a seed swap?',
    html: page(
      'A seed swap',
      `<p>{{ contact.first_name }}, at the end of the workshop everybody may swap. What grows well in {{ contact.city }} that others should try?</p>
${link('swap', 'Put it on the list')}
${signed}`,
    ),
  },
  order: {
    name: 'Order confirmation',
    subject: 'Thank you for order {{ order.number }}',
    html: page(
      'Thank you for your order',
      `<p>{{ name }}, we have your order {{ order.number }} and pack it today.</p>
<table><tbody>{% for item in order.items %}<tr><td>{{ item.name }}</td><td>{{ item.price }}</td></tr>{% endfor %}</tbody></table>
<p>In all: {{ order.total }}</p>
${link('orders', 'See your order')}`,
    ),
  },
} as const satisfies Record<string, TemplateText>

export type TemplateName = keyof typeof TEMPLATES
