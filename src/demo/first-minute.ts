import { setTimeout as wait } from 'node:timers/promises'
import type { Api, Identified, Listed } from './api.js'
import type { Campaigns } from './campaigns.js'
import { dispatched, invoice, type Letter, orderOf, password, reminder, workshopConfirmation } from './letters.js'
import { guests, type Person, readers, somebodyAt } from './people.js'
import type { Scene } from './set-scene.js'

/**
 * What happens right after the start, once, so that every state there is can be seen: a failure of every class, an email
 * nobody knows about, people who click, answer and leave. It waits for the product to have come so far, and never helps.
 */
export interface Stage {
  readonly api: Api
  readonly scene: Scene
  readonly campaigns: Campaigns
  readonly signal: AbortSignal
}

const HOUR_MS = 3_600_000
const LOOK_MS = 400

export async function playFirstMinute(stage: Stage): Promise<void> {
  await Promise.all([
    sendTrouble(stage),
    sendGoodMail(stage),
    loseBilling(stage),
    pauseSurvey(stage),
    leaveWorkshop(stage),
    walkGardens(stage),
    readOrder(stage),
  ])
}

const send = async ({ api }: Stage, sender_id: string, letter: Letter): Promise<string> =>
  (await api.post<Identified>('/api/emails', { sender_id, ...letter })).id

async function sendGoodMail(stage: Stage): Promise<void> {
  const { orders, hello } = stage.scene.senders
  await send(stage, hello, workshopConfirmation(guests[0]!, new Date(Date.now() + 72 * HOUR_MS)))
  await send(stage, hello, invoice(guests[1]!, 1_039))
  await send(stage, orders, password(readers[20]!))
  await send(stage, orders, orderOf(readers[21]!, 1_040, stage.scene.templates.order))
  // Over the next day, so that what is to come can be seen.
  const reminders = Array.from({ length: 24 }, (_, place) => place + 1).flatMap((hour) =>
    Array.from({ length: 1 + (hour % 3) }, (_, n) =>
      reminder(readers[(hour * 7 + n) % readers.length]!, inHours(hour - 0.3 * n)),
    ),
  )
  await stage.api.post(
    '/api/emails/batch',
    reminders.map((letter) => ({ sender_id: orders, ...letter })),
  )
  const canceled = await send(stage, orders, reminder(readers[30]!, inHours(5)))
  await stage.api.post(`/api/emails/${canceled}/cancel`)
}

/** An email of which everything was heard that can be. */
async function readOrder(stage: Stage): Promise<void> {
  const order = await send(stage, stage.scene.senders.orders, orderOf(readers[22]!, 1_049, stage.scene.templates.order))
  await until(stage, async () => (await emailOf(stage, order)).status === 'sent')
  for (const event of ['delivered', 'opened', 'clicked'])
    await stage.api.post('/api/events/send', { event, email_id: order })
}

const inHours = (hours: number) => new Date(Date.now() + hours * HOUR_MS)

async function sendTrouble(stage: Stage): Promise<void> {
  const { orders, wholesale } = stage.scene.senders
  const to = (person: Person, number: number, more: object = {}) =>
    send(stage, orders, { ...dispatched(person, number), ...more })
  // Comes too late: its server asks it to come again, and by then it is of no use.
  await to(somebodyAt('slowmail.example', 5), 1_046, { expires_at: new Date(Date.now() + 15_000).toISOString() })
  await to(somebodyAt('slowmail.example', 0), 1_041)
  await to(somebodyAt('gone.example', 1), 1_042)
  await to(somebodyAt('strict.example', 2), 1_043)
  await to(somebodyAt('thunder.example', 3), 1_044)
  const doubted = await to(somebodyAt('thunder.example', 4), 1_045)
  const dismissed = await to(somebodyAt('gone.example', 7), 1_048)
  await to({ ...readers[31]!, email: 'old.friend@letterbox.example' }, 1_047)
  await send(stage, wholesale, dispatched(somebodyAt('hurry.example', 6), 2_001))
  await until(stage, async () => (await emailOf(stage, doubted)).status === 'uncertain')
  // The server heard of it after all: that settles what nobody could know.
  await stage.api.post('/api/events/send', { event: 'delivered', email_id: doubted })
  await until(stage, async () => (await emailOf(stage, dismissed)).status === 'failed')
  await stage.api.remove(`/api/admin/outbox/${dismissed}`)
  // And what its sender has left waits until its server wants more.
  await send(stage, wholesale, dispatched(readers[32]!, 2_002))
}

const emailOf = ({ api }: Stage, id: string) => api.get<{ status: string }>(`/api/emails/${id}`)

async function loseBilling(stage: Stage): Promise<void> {
  const { billing } = stage.scene.senders
  await send(stage, billing, invoice(readers[40]!, 1_035))
  const isPaused = async () =>
    (await stage.api.get<{ paused_at: string | null }>(`/api/senders/${billing}`)).paused_at !== null
  await until(stage, isPaused)
  for (const [place, person] of readers.slice(41, 44).entries())
    await send(stage, billing, invoice(person, 1_036 + place))
}

/** Paused while it was under way. */
async function pauseSurvey(stage: Stage): Promise<void> {
  const { survey } = stage.campaigns
  const { api } = stage
  await until(stage, async () => (await progressOf(stage, survey)).counts.sent >= 4)
  await api.post(`/api/campaigns/${survey}/pause`)
}

const progressOf = ({ api }: Stage, id: string) =>
  api.get<{ status: string; counts: { sent: number } }>(`/api/campaigns/${id}/schedule`)

interface Captured {
  readonly id: string
  readonly subject: string
  readonly headers: readonly { readonly name: string; readonly value: string }[]
}

/** A guest presses the button that their mail program shows beside an invitation. */
async function leaveWorkshop(stage: Stage): Promise<void> {
  const { api, campaigns } = stage
  await until(stage, async () => (await progressOf(stage, campaigns.workshop)).status === 'sent')
  const { data } = await api.get<Listed<Captured>>('/api/inbox?limit=50')
  const invitation = data.find(({ subject }) => subject.startsWith('A place is kept'))
  if (!invitation) return
  const { headers } = await api.get<Captured>(`/api/inbox/${invitation.id}`)
  const header = headers.find(({ name }) => name.toLowerCase() === 'list-unsubscribe')?.value
  const token = /<[^>]*(\/u\/[^>]+)>/.exec(header ?? '')?.[1]
  if (token) await api.send(token, 'List-Unsubscribe=One-Click', 'application/x-www-form-urlencoded')
}

export interface Walk {
  readonly id: string
  readonly contact_id: string
  readonly position: { readonly node: string | null; readonly arrived: boolean }
}

/** Those who have their first email and have not been heard of since. */
export async function findReading({ api, campaigns }: Pick<Stage, 'api' | 'campaigns'>): Promise<readonly Walk[]> {
  const path = `/api/enrollments?campaign_id=${campaigns.gardens}&state=active&limit=100`
  const { data } = await api.get<Listed<Walk>>(path)
  return data.filter(({ position }) => position.node === 'reads-it' && position.arrived)
}

async function walkGardens(stage: Stage): Promise<void> {
  const { api } = stage
  const tell = (event: string, { contact_id }: Walk, payload?: object) =>
    api.post('/api/events/send', { event, contact_id, ...(payload && { payload }) })
  let reading: readonly Walk[] = []
  await until(stage, async () => (reading = await findReading(stage)).length >= 8)
  const [first, second, third, fourth, fifth, sixth, seventh] = reading
  await tell('clicked', first!)
  await tell('clicked', second!)
  await tell('clicked', third!)
  await tell('replied', fourth!, { text: 'Thank you, they are in the ground already!' })
  await tell('replied', fifth!, { text: 'I am out of the office until Monday.', auto_reply: true })
  await tell('unsubscribed', sixth!)
  await api.post(`/api/enrollments/${seventh!.id}/pause`)
}

/** For as long as it takes: on a busy machine a minute may be longer. Throws when the demo ends. */
async function until({ signal }: Stage, ask: () => Promise<boolean>): Promise<void> {
  while (!(await ask())) await wait(LOOK_MS, undefined, { signal })
}
