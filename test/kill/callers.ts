import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { SeededRandom } from '../support/seeded-random.js'
import { API_KEY } from './api-key.js'

/** One email somebody wants sent, and what became of asking for it. */
export interface Wish {
  readonly recipient: string
  readonly body: Readonly<Record<string, unknown>>
  /** Every id it was acknowledged under: there must be one. */
  readonly ids: Set<string>
  /** How often the answer was lost because the process that owed it was killed. */
  lostAnswers: number
  /** The answer was lost and nobody asked again: the email exists once or not at all. */
  abandoned: boolean
}

export interface CallersOptions {
  readonly wishes: readonly Wish[]
  readonly random: SeededRandom
  /** Where emails are accepted now; null while nobody does. */
  readonly url: () => string | null
  /** Resolves when there is room for more, so that work lasts as long as the killing does. */
  readonly room: () => Promise<void>
}

export const CALLERS = 12
const ABANDONS = 0.2
const LOST_ON_THE_WAY = 0.05
const PAUSE_MS = 50

/**
 * People who send emails by HTTP, each with a key of its own, and ask again with the same key when no answer came.
 */
export interface Callers {
  /** How many wait for an answer now. */
  asking(): number
  abandoned(): number
  /** Resolves when every wish was acknowledged or abandoned. */
  readonly finished: Promise<void>
}

export function startCallers({ wishes, random, url, room }: CallersOptions): Callers {
  const agent = new Agent({ keepAlive: true })
  const left = wishes.values()
  let asking = 0
  const call = async () => {
    for (const wish of left) {
      await room()
      asking++
      await ask(wish, agent, url, random).finally(() => asking--)
    }
  }
  return {
    asking: () => asking,
    abandoned: () => wishes.filter(({ abandoned }) => abandoned).length,
    finished: Promise.all(Array.from({ length: CALLERS }, call))
      .then(() => undefined)
      .finally(() => agent.destroy()),
  }
}

/**
 * Everybody asks once more, with the same key, whoever answered before: who was killed since must have kept the keys.
 * What comes back is one more id the wish was acknowledged under.
 */
export async function askAgain(wishes: readonly Wish[], url: () => string | null): Promise<void> {
  const agent = new Agent({ keepAlive: true })
  const left = wishes.values()
  const call = async () => {
    for (const wish of left) {
      const answer = await post(url(), wish, agent)
      if (typeof answer !== 'object') throw new Error(`Nobody answered ${wish.recipient} once more: ${answer}`)
      wish.ids.add(answer.id)
    }
  }
  await Promise.all(Array.from({ length: CALLERS }, call)).finally(() => agent.destroy())
}

async function ask(wish: Wish, agent: Agent, url: () => string | null, random: SeededRandom): Promise<void> {
  for (;;) {
    const answer = await post(url(), wish, agent)
    if (typeof answer === 'object') {
      wish.ids.add(answer.id)
      // A kill seldom falls between the commit and its answer. So some answers are lost on their way instead.
      if (random.next() >= LOST_ON_THE_WAY) return
    }
    if (answer === 'lost') {
      wish.lostAnswers++
      wish.abandoned = wish.ids.size === 0 && random.next() < ABANDONS
      if (wish.abandoned) return
    }
    await sleep(PAUSE_MS)
  }
}

/** `later`: it certainly was not accepted by this call, or it is being sent inline. `lost`: nobody knows. */
function post(url: string | null, { recipient, body }: Wish, agent: Agent): Promise<{ id: string } | 'later' | 'lost'> {
  if (url === null) return Promise.resolve('later')
  return new Promise((resolve, reject) => {
    const headers = {
      Authorization: `Bearer ${API_KEY}`,
      'Content-Type': 'application/json',
      'Idempotency-Key': recipient,
    }
    const asked = request(`${url}/api/emails`, { method: 'POST', agent, headers }, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => (text += chunk))
      response.on('error', () => resolve('lost'))
      response.on('end', () => {
        if (response.statusCode === 202) resolve(JSON.parse(text) as { id: string })
        else if (response.statusCode === 409 || response.statusCode === 503) resolve('later')
        else reject(new Error(`${response.statusCode} for ${recipient}: ${text}`))
      })
    })
    asked.on('error', ({ code }: NodeJS.ErrnoException) => resolve(code === 'ECONNREFUSED' ? 'later' : 'lost'))
    asked.end(JSON.stringify(body))
  })
}
