/**
 * Folders whose test files may follow each other in one process, which then loads what they import once. They start
 * nothing that could kill it, and leave nothing behind in it: no environment, no global, and no hook of a module they
 * import, because a module that is loaded already registers nothing for the next file.
 */
export const SHARING = ['audience', 'campaigns', 'domain', 'http', 'mime', 'pace', 'sending', 'templates']

/** A tracer that was set stays with whoever asked for one, even when it is disabled. */
export const NOT_SHARING = ['test/http/requests-are-followed.test.ts']
