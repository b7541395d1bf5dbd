import { z } from '@hono/zod-openapi'

/**
 * A named schema, or null. Its own `nullable().openapi({ description })` would take the name along: the document would then
 * say that it may be null wherever it stands.
 */
export const orNull = <Schema extends z.ZodType>(schema: Schema, description: string) =>
  z.union([schema, z.null()]).openapi({ description })
