/**
 * For every process of the tests that may hold an embedded database: it runs as it was first compiled. Optimising
 * PostgreSQL while it runs pays for itself in a server that stays, and takes a test half of its processor time.
 */
export const QUICK_START = '--liftoff-only'
