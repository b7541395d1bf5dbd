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
  /** Resolves with what to ask for next, when there is room for more; null when there is nothing left to ask for. */
  readonly next: () => Promise<Wish | null>
  readonly random: SeededRandom
  /** Where emails are accepted now; null while nobody does. */
  readonly url: () => string | null
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
  /** Resolves when every wish was acknowledged or abandoned. */
  readonly finished: Promise<void>
}

export function startCallers({ next, random, url }: CallersOptions): Callers {
  const agent = new Agent({ keepAlive: true })
  let asking = 0
  const post: Post = async (wish) => {
    const to = url()
    if (to === null) return 'later'
    asking++
    return postWish(to, wish, agent).finally(() => asking--)
  }
  const call = async () => {
    for (let wish = await next(); wish; wish = await next()) await ask(wish, post, random)
  }
  return {
    asking: () => asking,
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
      const to = url()
      const answer = to && (await postWish(to, wish, agent))
      if (answer === null || typeof answer !== 'object')
        throw new Error(`Nobody answered ${wish.recipient} once more: ${answer}`)
      wish.ids.add(answer.id)
    }
  }
  await Promise.all(Array.from({ length: CALLERS }, call)).finally(() => agent.destroy())
}

/** `later`: it certainly was not accepted by this call, or it is being sent inline. `lost`: nobody knows. */
type Answer = { readonly id: string } | 'later' | 'lost'
type Post = (wish: Wish) => Promise<Answer>

async function ask(wish: Wish, post: Post, random: SeededRandom): Promise<void> {
  for (;;) {
    const answer = await post(wish)
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

function postWish(url: string, { recipient, body }: Wish, agent: Agent): Promise<Answer> {
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
