import { plainError } from './plain-error.js'

/** A server that tests may use. Whoever acquired it releases it; releasing somebody else's server does nothing. */
export interface AcquiredService {
  url: string
  release(): Promise<void>
}

/** What acquiring needs to know about one kind of server. */
export interface ServiceKind {
  name: string
  /** The environment variable that names a server to use, e.g. `TEST_REDIS_URL`. */
  variable: string
  /** Where such a server usually listens on this machine. */
  usualUrls: string[]
  /** Null when the server at the URL can be used; otherwise why not, to be read after "cannot be used:". */
  objection(url: string): Promise<string | null>
  startPrivate(): Promise<{ url: string; dispose(): Promise<void> }>
}

/**
 * The one order in which tests come by a server: the one named in the environment, the one at the usual place, a
 * private one from binaries that are installed, now if need be.
 */
export async function acquireService(
  kind: ServiceKind,
  environment: NodeJS.ProcessEnv = process.env,
): Promise<AcquiredService> {
  const running = await findRunningService(kind, environment)
  if (running !== null) return { url: running, release: async () => {} }
  const server = await kind.startPrivate()
  return { url: server.url, release: () => server.dispose() }
}

/**
 * The URL of a server that runs already. One that was named but cannot be used is an error: whoever named it would not
 * expect the tests to run against another. `TEST_SERVICES=private` passes over the usual places, for a machine whose
 * own servers tests had better not touch.
 */
export async function findRunningService(
  kind: ServiceKind,
  environment: NodeJS.ProcessEnv = process.env,
): Promise<string | null> {
  const named = environment[kind.variable]
  if (named) {
    const objection = await kind.objection(named)
    if (objection) throw plainError(`The ${kind.name} named by ${kind.variable} cannot be used: ${objection}.`)
    return named
  }
  if (environment.TEST_SERVICES === 'private') return null
  for (const url of kind.usualUrls) {
    if ((await kind.objection(url)) === null) return url
  }
  return null
}
