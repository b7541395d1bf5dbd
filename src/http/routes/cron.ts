import { z } from '@hono/zod-openapi'
import { sameSecret } from '../../operations/api-keys.js'
import type { AppOptions } from '../app-options.js'
import { readBearer } from '../authenticate.js'
import { type Endpoint, open } from '../endpoint.js'
import { RequestError } from '../problem.js'

/** For where no process may keep running: something outside calls this every minute. */
const TICK_MS = 50_000

/** A tick that is still at work when the next one is asked for does that one's work, too. */
const running = new WeakMap<AppOptions, Promise<Readonly<Record<string, number>>>>()

export const cronEndpoints: readonly Endpoint[] = [
  open({
    method: 'post',
    path: '/api/cron/send-emails',
    access: 'cron',
    tag: 'Operation',
    summary: 'Work for up to 50 seconds',
    description:
      'Until nothing is due. Needs Authorization: Bearer CRON_SECRET; without that setting there is no such route.',
    answers: 'What was done.',
    answer: z.strictObject({ object: z.literal('tick'), counts: z.record(z.string(), z.number()) }).openapi('Tick'),
    problems: ['unauthorized', 'not_found'],
    async run({ options, header }) {
      if (options.cronSecret === null)
        throw new RequestError('not_found', 'There is nothing here: CRON_SECRET is not set.')
      const secret = readBearer(header('authorization'))
      if (secret === null || !sameSecret(secret, options.cronSecret))
        throw new RequestError('unauthorized', 'Send Authorization: Bearer with the value of CRON_SECRET.', {
          headers: { 'WWW-Authenticate': 'Bearer realm="postrider cron"' },
        })
      return { object: 'tick' as const, counts: { ...(await tick(options)) } }
    },
  }),
]

function tick(options: AppOptions): Promise<Readonly<Record<string, number>>> {
  const under = running.get(options)
  if (under) return under
  const started = options.tick(TICK_MS).finally(() => running.delete(options))
  running.set(options, started)
  return started
}
