import { Agent, request } from 'node:http'
import { quantile } from '../support/statistics.js'
import { emailTo } from './email.js'

/** Posts emails to the API over connections that are kept, and believes no answer but a 202 with the ids it promises. */
export interface PostTask {
  readonly url: string
  readonly apiKey: string
  readonly emails: number
  /** In one post; 1 for single posts. */
  readonly batch: number
  readonly inFlight: number
}

export interface Posting {
  readonly seconds: number
  /** Different ids that were answered. */
  readonly ids: number
  readonly emailsPerSecond: number
  /** From the post to the last byte of its answer. */
  readonly answerMs: { readonly p50: number; readonly p99: number; readonly max: number }
}

export async function post({ url, apiKey, emails, batch, inFlight }: PostTask): Promise<Posting> {
  const agent = new Agent({ keepAlive: true, maxSockets: inFlight })
  const path = batch === 1 ? '/api/emails' : '/api/emails/batch'
  // Written once: the time of this process is taken from the server's on a small machine.
  const body = Buffer.from(
    JSON.stringify(batch === 1 ? emailTo(0) : Array.from({ length: batch }, (_, i) => emailTo(i))),
  )
  const headers = {
    authorization: `Bearer ${apiKey}`,
    'content-type': 'application/json',
    'content-length': body.length,
  }
  const posts = Math.ceil(emails / batch)
  const ids = new Set<string>()
  const waits: number[] = []
  let next = 0

  const caller = async () => {
    while (next < posts) {
      next++
      const from = performance.now()
      const { status, text } = await exchange(new URL(path, url), agent, headers, body)
      waits.push(performance.now() - from)
      if (status !== 202) throw new Error(`A post was answered with ${status}: ${text.slice(0, 500)}`)
      for (const id of readIds(text)) ids.add(id)
    }
  }
  const from = performance.now()
  await Promise.all(Array.from({ length: inFlight }, caller))
  const seconds = (performance.now() - from) / 1_000
  agent.destroy()
  if (ids.size !== posts * batch) throw new Error(`${posts * batch} emails were posted, and ${ids.size} ids answered.`)
  return {
    seconds,
    ids: ids.size,
    emailsPerSecond: ids.size / seconds,
    answerMs: { p50: quantile(waits, 0.5), p99: quantile(waits, 0.99), max: quantile(waits, 1) },
  }
}

const exchange = (url: URL, agent: Agent, headers: Record<string, string | number>, body: Buffer) =>
  new Promise<{ status: number; text: string }>((resolve, reject) => {
    const asked = request(url, { method: 'POST', agent, headers }, (answer) => {
      let text = ''
      answer.setEncoding('utf8')
      answer.on('data', (piece: string) => (text += piece))
      answer.once('end', () => resolve({ status: answer.statusCode ?? 0, text }))
      answer.once('error', reject)
    })
    asked.once('error', reject)
    asked.end(body)
  })

function readIds(text: string): string[] {
  const answer = JSON.parse(text) as { id?: string; data?: readonly { id: string }[] }
  return answer.data ? answer.data.map(({ id }) => id) : answer.id === undefined ? [] : [answer.id]
}
