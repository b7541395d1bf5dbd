import { z } from '@hono/zod-openapi'
import type { Suppression } from '../db/suppressions.js'
import { SUPPRESSION_REASONS, SUPPRESSION_SCOPES } from '../domain/suppression.js'

export const suppressionSchema = z
  .strictObject({
    object: z.literal('suppression'),
    email: z.string(),
    scope: z.enum(SUPPRESSION_SCOPES),
    reason: z.enum(SUPPRESSION_REASONS),
    detail: z.string().nullable(),
    created_at: z.iso.datetime(),
  })
  .openapi('Suppression')

export const toSuppression = (suppression: Suppression): z.input<typeof suppressionSchema> => ({
  object: 'suppression',
  email: suppression.address,
  scope: suppression.scope,
  reason: suppression.reason,
  detail: suppression.detail,
  created_at: suppression.createdAt.toISOString(),
})
