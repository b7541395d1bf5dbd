import { installOnDebian } from './install-on-debian.js'

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
  isInstalled(): boolean
  startPrivate(): Promise<{ url: string; dispose(): Promise<void> }>
  debianPackage: string
}

/**
 * The one order in which tests come by a server: the one named in the environment, the one at the usual place, a
 * private one from installed binaries, a private one from binaries installed now.
 */
export async function acquireService(
  kind: ServiceKind,
  environment: NodeJS.ProcessEnv = process.env,
  install: (debianPackage: string) => Promise<string | null> = installOnDebian,
): Promise<AcquiredService> {
  const running = await findRunningService(kind, environment)
  if (running !== null) return { url: running, release: async () => {} }
  if (!kind.isInstalled()) {
    const obstacle = await install(kind.debianPackage)
    if (obstacle !== null || !kind.isInstalled()) {
      throw plainError(
        `The tests need ${kind.name}: install it (on Debian and Ubuntu the package ${kind.debianPackage}), ` +
          `or name a running one in ${kind.variable}${obstacle ? ` (${obstacle})` : ''}.`,
      )
    }
  }
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

/** An error whose one sentence is the whole story: vitest prints stacks, and here a stack would only bury it. */
function plainError(message: string): Error {
  const error = new Error(message)
  error.stack = message
  return error
}
