import type { Api, Identified, Listed } from './api.js'
import { firstGardens, seedSavers } from './sequences.js'
import { gardeners, guests, type Person, readers, readersFromFile } from './people.js'
import { TEMPLATES, type TemplateName } from './templates.js'

/** Who and what there is before anything happens: senders, texts, people. */
export interface Scene {
  readonly senders: Readonly<Record<SenderName, string>>
  readonly templates: Readonly<Record<TemplateName, string>>
  readonly lists: { readonly readers: string; readonly guests: string; readonly gardeners: string }
  readonly sequences: { readonly gardens: string; readonly savers: string }
}

type SenderName = 'hello' | 'orders' | 'letter' | 'mina' | 'tomas' | 'billing' | 'wholesale'

export interface MailServer {
  readonly host: string
  readonly port: number
  readonly user: string
  readonly pass: string
}

export const smtpUrlOf = ({ host, port, user, pass }: MailServer): string => `smtp://${user}:${pass}@${host}:${port}`

/** Whom the settings make a sender of; see below. */
export const CONFIGURED = { name: 'Quince & Fig', address: 'shop@quince.example' }
/** Its server no longer takes this one. */
const OLD_PASSWORD = 'last-years-password'

export async function setScene(api: Api, server: MailServer, fast: number): Promise<Scene> {
  const senders = await makeSenders(api, server)
  const templates = await makeTemplates(api)
  const lists = await makeLists(api)
  await api.post('/api/suppressions/batch/add', {
    emails: ['old.friend@letterbox.example', 'no.thanks@maple.example'],
    detail: 'asked for it by phone',
  })
  await api.post('/api/suppressions', { email: 'complaint@harbour.example', reason: 'complaint', scope: 'marketing' })
  const plan = async (sequence: object) => (await api.post<Identified>('/api/sequences', sequence)).id
  const sequences = { gardens: await plan(firstGardens(templates, fast)), savers: await plan(seedSavers(templates)) }
  return { senders, templates, lists, sequences }
}

async function makeSenders(api: Api, server: MailServer): Promise<Scene['senders']> {
  const smtp_url = smtpUrlOf(server)
  const make = async (sender: object) => (await api.post<Identified>('/api/senders', sender)).id
  const walking = { gap_min_seconds: 1, gap_max_seconds: 3 }
  const senders = {
    // What is sent without naming a sender is kept in the inbox, where it can be looked at.
    hello: await make({ address: 'Quince & Fig <hello@quince.example>', provider: 'capture', is_default: true }),
    orders: await make({ address: 'Quince & Fig Orders <orders@quince.example>', smtp_url }),
    letter: await make({
      address: 'The Seed Letter <letter@quince.example>',
      smtp_url,
      pace: {
        timezone: 'Europe/Lisbon',
        sending_days: [1, 2, 3, 4, 5],
        start_hour: 8,
        end_hour: '18:30',
        daily_quota: 2_000,
        ramp_up_enabled: true,
        ramp_up_start: 400,
        ramp_up_step: 200,
      },
    }),
    mina: await make({
      address: 'Mina of Quince & Fig <mina@quince.example>',
      smtp_url,
      pace: { timezone: 'Europe/Lisbon', daily_quota: 5_000, ...walking },
    }),
    tomas: await make({
      address: 'Tomas of Quince & Fig <tomas@quince.example>',
      smtp_url,
      pace: { timezone: 'America/Halifax', daily_quota: 5_000, ...walking },
    }),
    billing: await make({
      address: 'Quince & Fig Billing <billing@quince.example>',
      smtp_url: smtpUrlOf({ ...server, pass: OLD_PASSWORD }),
    }),
    wholesale: await make({ address: 'Quince & Fig Wholesale <wholesale@quince.example>', smtp_url }),
  }
  // All have a server of their own: one that follows the settings would follow those of whoever opens this database.
  const { data } = await api.get<Listed<{ id: string; address: string }>>('/api/senders')
  const configured = data.find(({ address }) => address === CONFIGURED.address)
  if (configured) await api.remove(`/api/senders/${configured.id}`)
  return senders
}

async function makeTemplates(api: Api): Promise<Scene['templates']> {
  const made: Partial<Record<TemplateName, string>> = {}
  for (const [name, template] of Object.entries(TEMPLATES) as [TemplateName, object][])
    made[name] = (await api.post<Identified>('/api/templates', template)).id
  const templates = made as Scene['templates']
  // So that one has a history.
  await api.patch(`/api/templates/${templates.sale}`, {
    subject: 'The last bags of this year’s harvest, at half the price',
  })
  return templates
}

async function makeLists(api: Api): Promise<Scene['lists']> {
  const make = async (name: string, description: string, people: readonly Person[]) => {
    const { id } = await api.post<Identified>('/api/lists', { name, description })
    await api.post(`/api/lists/${id}/contacts`, { contacts: people })
    return id
  }
  const lists = {
    readers: await make('The Seed Letter', 'Everybody who wants to know what to sow', readers),
    guests: await make('Workshop guests', 'Who was at the long table before', guests),
    gardeners: await make('First gardens', 'New this season', gardeners),
  }
  await api.send(`/api/lists/${lists.readers}/import`, fileOf(readersFromFile), 'text/csv')
  return lists
}

/** As people write such files: some rows cannot be used, and one has a time zone that is none. */
function fileOf(people: readonly Person[]): string {
  const rows = people.map(
    ({ email, name, timezone, attributes: { first_name, city, garden, experience, orders, since } }) =>
      [email, name, timezone, first_name, city, garden, experience, orders, since].join(','),
  )
  const wrong = [
    'tulip at maple.example,Tulip Brook,Europe/London,Tulip,Leeds,balcony,first,0,2026-01-01',
    ',Nobody,Europe/London,Nobody,Leeds,balcony,first,0,2026-01-01',
    'two@at@signs.example,Twice,Europe/London,Twice,Leeds,balcony,first,0,2026-01-01',
  ]
  const strange = rows[4]!.replace(/[A-Z][a-z]+\/[A-Z]\w+/, 'Moon/Tranquility')
  return [
    'email,name,timezone,first name,city,garden,experience,orders,since',
    ...rows.slice(0, 4),
    wrong[0],
    strange,
    ...rows.slice(5, 15),
    wrong[1],
    ...rows.slice(15),
    wrong[2],
    '',
  ].join('\n')
}
