/**
 * For processes of the tests that hold an embedded database for a short time: it runs as it was first compiled. Optimising
 * PostgreSQL while it runs pays for itself in a server that stays, and takes a short test half of its processor time.
 */
export const QUICK_START = '--liftoff-only'
