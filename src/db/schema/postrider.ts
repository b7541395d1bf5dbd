import { pgSchema } from 'drizzle-orm/pg-core'

/** Everything lives in a schema of its own, so that Postrider can share an application's database. */
export const postrider = pgSchema('postrider')
