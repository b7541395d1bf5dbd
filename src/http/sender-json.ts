import { z } from '@hono/zod-openapi'
import type { Sender } from '../db/senders.js'
import { PHASES } from '../domain/failure.js'
import { showId } from '../id.js'
import type { Context } from '../operations/context.js'
import { paceSchema, toPace } from './pace-json.js'

export const PROVIDERS = ['smtp', 'capture'] as const

/** Credentials go in and never come out; only that there are some is shown. */
export const senderSchema = z
  .strictObject({
    object: z.literal('sender'),
    id: z.string(),
    name: z.string().nullable(),
    address: z.string(),
    provider: z.enum(PROVIDERS),
    has_credentials: z.boolean().openapi({ description: 'Without its own, it uses SMTP_URL.' }),
    is_default: z.boolean(),
    paused_at: z.iso.datetime().nullable(),
    paused_code: z.string().nullable(),
    paused_reason: z.string().nullable(),
    pace: paceSchema.nullable().openapi({ description: 'Null: at any time, as much as there is.' }),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .openapi('Sender')

export const senderTestSchema = z
  .strictObject({
    ok: z.boolean(),
    evidence: z
      .strictObject({
        phase: z.enum(PHASES),
        code: z.int().nullable(),
        enhanced_code: z.string().nullable(),
        reply: z.string(),
        remote_host: z.string().nullable(),
        duration_ms: z.number(),
      })
      .nullable(),
  })
  .openapi('SenderTest')

export const toSender = (sender: Sender): z.input<typeof senderSchema> => ({
  object: 'sender',
  id: showId('snd', sender.id),
  name: sender.name,
  address: sender.address,
  provider: sender.provider,
  has_credentials: sender.credentials !== null,
  is_default: sender.isDefault,
  paused_at: sender.pausedAt?.toISOString() ?? null,
  paused_code: sender.pausedCode,
  paused_reason: sender.pausedReason,
  pace: sender.pace && toPace(sender.pace),
  created_at: sender.createdAt.toISOString(),
  updated_at: sender.updatedAt.toISOString(),
})

export const toSenderTest = ({
  ok,
  evidence,
}: Awaited<ReturnType<Context['testSender']>>): z.input<typeof senderTestSchema> => ({
  ok,
  evidence: evidence && {
    phase: evidence.phase,
    code: evidence.code,
    enhanced_code: evidence.enhancedCode,
    reply: evidence.reply,
    remote_host: evidence.remoteHost,
    duration_ms: evidence.durationMs,
  },
})
