import { z } from '@hono/zod-openapi'
import { findSeenWorkers } from '../../db/seen-workers.js'
import { VERSION } from '../../version.js'
import { type Endpoint, keyed } from '../endpoint.js'

export const settingsEndpoints: readonly Endpoint[] = [
  keyed({
    method: 'get',
    path: '/api/admin/settings',
    scope: 'read',
    tag: 'Operation',
    summary: 'The settings in force',
    description: 'Of the process that answers, secrets blotted out. Empty when a program has composed it by itself.',
    answers: 'What it runs with.',
    answer: z
      .strictObject({
        object: z.literal('settings'),
        version: z.string(),
        database: z.enum(['embedded', 'postgresql']).nullable(),
        broker: z.string().nullable().openapi({ description: 'The scheme of BROKER_URL; null without one.' }),
        public_url: z.string(),
        workers: z
          .array(z.strictObject({ worker: z.string(), seen_at: z.iso.datetime() }))
          .openapi({ description: 'Who held or sent something in the last five minutes; an idle one is not seen.' }),
        settings: z.array(
          z.strictObject({
            name: z.string(),
            value: z.string(),
            source: z.string().openapi({ description: 'default, set, or file.' }),
          }),
        ),
      })
      .openapi('Settings'),
    run: async ({ options: { context, settings = [], database = null, broker = null } }) => ({
      object: 'settings' as const,
      version: VERSION,
      database,
      broker,
      public_url: context.publicUrl,
      workers: (await findSeenWorkers(context.db)).map(({ worker, seenAt }) => ({
        worker,
        seen_at: seenAt.toISOString(),
      })),
      settings: settings.map(({ name, value, source }) => ({ name, value, source })),
    }),
  }),
]
