import { connect } from '../../../src/db/client.js'
import { migrate } from '../../../src/db/migrate.js'

/**
 * Brings the template database to where a test file wants to start: migrated and empty. The one place that knows how.
 */
export async function prepareTemplate(url: string): Promise<void> {
  const db = connect({ connection: { connectionString: url }, maxConnections: 1 })
  try {
    await migrate(db)
  } finally {
    await db.close()
  }
}
