/**
 * Folders whose test files may follow each other in one process, which then loads what they import once. They start
 * nothing that could kill it, and leave nothing behind in it: no environment, no global, and no hook of a module they
 * import, because a module that is loaded already registers nothing for the next file.
 */
export const SHARING = [
  'audience',
  'brokers',
  'campaigns',
  'cli',
  'dashboard',
  'domain',
  'http',
  'kill',
  'mime',
  'pace',
  'promises',
  'providers',
  'sending',
  'sequences',
  'templates',
]

export const NOT_SHARING = [
  // A tracer that was set stays with whoever asked for one, even when it is disabled.
  'test/http/requests-are-followed.test.ts',
  // Databases and processes that end as no other test could bear.
  'test/promises/a-crashed-worker-loses-nothing.test.ts',
  'test/promises/embedded-*.test.ts',
  'test/promises/migrations-are-safe.test.ts',
  'test/promises/the-database-may-go-away.test.ts',
]

/** Set in a process that runs many files. */
export const SHARED_PROCESS = 'POSTRIDER_TESTS_SHARED_PROCESS'
