import type { Person } from './people.js'
import { drawGarden } from './picture.js'

/** The single emails of the shop, as the body of POST /api/emails. */
export type Letter = Readonly<Record<string, unknown>>

const SEEDS = [
  'Broad beans “Aquadulce”',
  'Purple carrots',
  'Lamb’s lettuce',
  'Rainbow chard',
  'Garlic, six bulbs',
  'Sweet peas',
  'Borage for the bees',
]
const tag = (kind: string) => [{ name: 'kind', value: kind }]
const mailboxOf = ({ name, email }: Person) => `${name} <${email}>`

export function orderOf(person: Person, number: number, template: string): Letter {
  const items = [0, 1, 2].slice(0, 1 + (number % 3)).map((place) => ({
    name: SEEDS[(number + 3 * place) % SEEDS.length]!,
    cents: 290 + ((number * 37 + place * 110) % 400),
  }))
  return {
    to: mailboxOf(person),
    template: {
      id: template,
      variables: {
        name: person.attributes.first_name,
        order: {
          number,
          items: items.map(({ name, cents }) => ({ name, price: euros(cents) })),
          total: euros(items.reduce((sum, { cents }) => sum + cents, 0)),
        },
      },
    },
    tags: tag('order'),
  }
}

const euros = (cents: number) => `€ ${(cents / 100).toFixed(2)}`

export const dispatched = (person: Person, number: number): Letter => ({
  to: mailboxOf(person),
  subject: `Order ${number} is on its way`,
  text: `${person.attributes.first_name}, your seeds left us this morning and should be in ${person.attributes.city} in three days.\n\nQuince & Fig\n`,
  tags: tag('dispatch'),
})

export const password = (person: Person): Letter => ({
  to: mailboxOf(person),
  subject: 'Choose a new password',
  text: `${person.attributes.first_name}, somebody, we hope you, asked for a new password:\n\nhttps://quince.example/password\n\nIf it was not you, do nothing.\n`,
  delivery: 'inline',
  tags: tag('password'),
})

export const invoice = (person: Person, number: number): Letter => ({
  to: mailboxOf(person),
  subject: `Invoice ${number}`,
  text: `${person.attributes.first_name}, the invoice of your order ${number} is attached.\n`,
  attachments: [
    {
      filename: `invoice-${number}.txt`,
      content: Buffer.from(`Invoice ${number}\nSeeds  € 12.40\nPaid, thank you.\n`).toString('base64'),
      content_type: 'text/plain',
    },
  ],
  tags: tag('invoice'),
})

export const stock = (person: Person, number: number): Letter => ({
  to: mailboxOf(person),
  subject: `Back in stock: ${SEEDS[number % SEEDS.length]!}`,
  html: `<p>${person.attributes.first_name}, you asked us to tell you: <b>${SEEDS[number % SEEDS.length]!}</b> are back.</p>`,
  tags: tag('stock'),
})

export const reminder = (person: Person, scheduledAt: Date): Letter => ({
  to: mailboxOf(person),
  subject: 'Time to water the seedlings',
  text: `${person.attributes.first_name}, you asked for a reminder. They drink from below.\n`,
  scheduled_at: scheduledAt.toISOString(),
  tags: tag('reminder'),
})

/** With everything an email can have. */
export function workshopConfirmation(person: Person, startsAt: Date): Letter {
  return {
    to: mailboxOf(person),
    subject: 'Your place in the seed workshop',
    html: `<div style="font-family:Georgia,serif;color:#2f3a2b"><img src="cid:garden@quince" alt="Two hills and the sun" width="240" height="100">
<h1 style="color:#3d6b35">See you at the long table</h1>
<p>${person.attributes.first_name}, your place is booked. Bring a jar and something to label it with; the date is attached for your calendar, and a list of what we will open.</p></div>`,
    attachments: [
      {
        filename: 'garden.png',
        content: drawGarden().toString('base64'),
        content_type: 'image/png',
        content_id: 'garden@quince',
      },
      {
        filename: 'seeds.csv',
        content: Buffer.from(
          `seed,sow in\n${SEEDS.map((seed, i) => `${seed},${['March', 'April', 'May'][i % 3]!}`).join('\n')}\n`,
        ).toString('base64'),
        content_type: 'text/csv',
      },
    ],
    calendar: {
      method: 'REQUEST',
      event: {
        uid: 'seed-workshop@quince.example',
        title: 'Saving your own seeds',
        starts_at: startsAt.toISOString(),
        ends_at: new Date(startsAt.getTime() + 2 * 3_600_000).toISOString(),
        timezone: 'Europe/Lisbon',
        location: 'Quince & Fig, the long table',
        organizer: { name: 'Quince & Fig', address: 'hello@quince.example' },
        attendees: [{ name: person.name, address: person.email }],
      },
    },
    tags: tag('workshop'),
  }
}
