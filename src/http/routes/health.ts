import { z } from '@hono/zod-openapi'
import type { Database } from '../../db/client.js'
import { PostriderError } from '../../errors.js'
import { type Endpoint, open } from '../endpoint.js'
import { RequestError } from '../problem.js'

/** Longer than a busy database takes to answer nothing, shorter than what asks is willing to wait. */
const PATIENCE_MS = 2_000

const okSchema = z.strictObject({ status: z.literal('ok') }).openapi('Ok')
const common = { method: 'get', access: 'open', tag: 'Operation' } as const

export const healthEndpoints: readonly Endpoint[] = [
  open({
    ...common,
    path: '/livez',
    summary: 'Is the process alive?',
    description: 'Says nothing of the database: restarting this process would not bring that back.',
    answers: 'It is.',
    answer: okSchema,
    run: () => Promise.resolve({ status: 'ok' as const }),
  }),
  open({
    ...common,
    path: '/readyz',
    summary: 'May it be sent requests?',
    answers: 'It may.',
    answer: okSchema,
    problems: ['not_ready', 'database_unavailable'],
    async run({ options }) {
      if (!options.isReady()) throw new RequestError('not_ready', 'This process is stopping.')
      await requireDatabase(options.context.db)
      return { status: 'ok' as const }
    },
  }),
  open({
    ...common,
    path: '/metrics',
    summary: 'Metrics for Prometheus',
    answers: 'In its text format.',
    answer: { contentType: 'text/plain' },
    problems: ['database_unavailable'],
    run: async ({ options: { metrics } }) =>
      new Response(await metrics.expose(), { headers: { 'Content-Type': metrics.contentType } }),
  }),
]

async function requireDatabase(db: Database): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new PostriderError('database_unavailable', 'The database did not answer in time.')),
      PATIENCE_MS,
    )
  })
  try {
    await Promise.race([db.query('select 1'), late])
  } catch (error) {
    // Whatever it says, it does not answer.
    throw new PostriderError('database_unavailable', 'The database does not answer.', { cause: error })
  } finally {
    clearTimeout(timer)
  }
}
