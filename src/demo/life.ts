import { setTimeout as wait } from 'node:timers/promises'
import { seededDice } from '../domain/seeded-dice.js'
import { ApiRefusal, type Identified, type Listed } from './api.js'
import { launchLetter, nextLetter } from './campaigns.js'
import { findReading, type Stage } from './first-minute.js'
import { dispatched, invoice, type Letter, orderOf, password, stock } from './letters.js'
import { newcomer, readers, somebodyAt } from './people.js'
import type { TroubledDomain } from './temper.js'

/**
 * What goes on for as long as the demo runs: orders come in, people open, click and answer, somebody new begins, and now
 * and then something goes wrong, unless enough of that waits for a person already.
 */
const ROUND_MS = 3_000
/** So many failed, or uncertain, are enough to try things on. */
const ENOUGH_FAILED = 12
const ENOUGH_UNCERTAIN = 3
/** How many of the latest emails may be heard of. */
const REMEMBERED = 200

export async function live(stage: Stage, onTrouble: (error: unknown) => void): Promise<void> {
  const acts = createActs(stage)
  for (let round = 1; !stage.signal.aborted; round++) {
    for (const { every, act } of acts)
      if (round % every === 0)
        await act(round).catch((error: unknown) => {
          // Somebody has changed or removed what it was about: that is what a demo is for.
          if (!(error instanceof ApiRefusal)) onTrouble(error)
        })
    await wait(ROUND_MS, undefined, { signal: stage.signal }).catch(() => undefined)
  }
}

interface Act {
  /** In rounds. */
  readonly every: number
  act(round: number): Promise<void>
}

function createActs(stage: Stage): Act[] {
  const { api, scene, campaigns } = stage
  const dice = seededDice('life')
  const pick = <T>(from: readonly T[]) => from[Math.floor(dice() * from.length)]!
  const send = (sender_id: string, letter: Letter) => api.post('/api/emails', { sender_id, ...letter })
  let orders = 1_100
  let troubles = 10
  let arrived = 0
  let letter = campaigns.letter
  let letters = 0

  const trade = async () => {
    const person = pick(readers.slice(14))
    const number = orders++
    const { orders: shop, hello } = scene.senders
    const write = pick([
      () => send(shop, orderOf(person, number, scene.templates.order)),
      () => send(shop, orderOf(person, number, scene.templates.order)),
      () => send(shop, dispatched(person, number - 20)),
      () => send(shop, stock(person, number)),
      () => send(shop, password(person)),
      () => send(hello, invoice(person, number)),
    ])
    await write()
  }

  const heard = new Map<string, number>()
  const STAGES = ['delivered', 'opened', 'clicked'] as const
  const hear = async () => {
    const { data } = await api.get<Listed<{ id: string; step: object | null }>>('/api/emails?status=sent&limit=30')
    // Those of the sequence have an act of their own: a click moves somebody there.
    const email = pick(data.filter(({ id, step }) => step === null && (heard.get(id) ?? 0) < STAGES.length))
    if (!email) return
    const stage = heard.get(email.id) ?? 0
    // Not everybody opens, and fewer click.
    heard.set(email.id, stage > 0 && dice() < 0.5 ? STAGES.length : stage + 1)
    if (heard.get(email.id) === stage + 1)
      await api.post('/api/events/send', { event: STAGES[stage], email_id: email.id })
    for (const id of heard.keys()) if (heard.size > REMEMBERED) heard.delete(id)
  }

  const walk = async () => {
    const walk = pick(await findReading(stage))
    if (!walk) return
    const event = pick(['clicked', 'clicked', 'clicked', 'opened', 'replied'])
    await api.post('/api/events/send', { event, contact_id: walk.contact_id })
  }

  const join = async () => {
    const person = newcomer(arrived++)
    const { id } = await api.post<Identified>('/api/contacts', person)
    await api.post(`/api/lists/${scene.lists.gardeners}/contacts`, { contacts: [person] })
    await api.post(`/api/campaigns/${campaigns.gardens}/enroll`, { contact_ids: [id] })
  }

  const err = async () => {
    const counts = await api.get<{ failed_email_count: number; uncertain_email_count: number }>('/api/admin/dashboard')
    const number = troubles++
    const kinds: TroubledDomain[] = ['slowmail.example', 'slowmail.example']
    if (counts.failed_email_count < ENOUGH_FAILED) kinds.push('gone.example', 'strict.example')
    if (counts.uncertain_email_count < ENOUGH_UNCERTAIN) kinds.push('thunder.example')
    await send(scene.senders.orders, dispatched(somebodyAt(pick(kinds), number), orders++))
  }

  const hurry = async () => {
    await send(scene.senders.wholesale, dispatched(somebodyAt('hurry.example', troubles++), 2_000 + troubles))
  }

  const print = async () => {
    const { status, counts } = await api.get<{ status: string; counts: { not_planned: number } }>(
      `/api/campaigns/${letter}/schedule`,
    )
    // Its last retries may take a while longer. One that was paused or canceled was somebody's decision.
    if (counts.not_planned === 0 && (status === 'running' || status === 'sent'))
      letter = await launchLetter(api, scene, nextLetter(++letters))
  }

  return [
    { every: 1, act: trade },
    { every: 2, act: hear },
    { every: 3, act: join },
    { every: 4, act: walk },
    { every: 11, act: err },
    { every: 20, act: print },
    { every: 70, act: hurry },
  ]
}
