import { findBinary } from './find-binary.js'
import { findFreePort } from './free-port.js'
import { answersRedis } from './redis-probe.js'
import { type RequiredProgram, requireProgram } from './required-program.js'
import { createServerDirectory } from './server-directory.js'
import { launchServer, type ServerProcess } from './server-process.js'
import { findUnprivilegedUser } from './unprivileged-user.js'

export interface PrivateRedis {
  url: string
  directory: string
  start(): Promise<void>
  kill(): Promise<void>
  dispose(): Promise<void>
}

export const redisProgram: RequiredProgram<string> = {
  name: 'Redis',
  find: () => findBinary('redis-server'),
  debianPackage: 'redis-server',
  variable: 'TEST_REDIS_URL',
}

/** Keeps nothing on disk unless told so by settings, e.g. `{ appendonly: 'yes' }`: a killed Redis comes back empty. */
export async function startPrivateRedis(settings: Record<string, string> = {}): Promise<PrivateRedis> {
  const file = await requireProgram(redisProgram)
  const user = findUnprivilegedUser('redis')
  const directory = createServerDirectory('redis', user)
  const port = await findFreePort()
  const url = `redis://127.0.0.1:${port}`
  const effectiveSettings: Record<string, string> = {
    port: String(port),
    bind: '127.0.0.1',
    dir: directory.path,
    save: '',
    appendonly: 'no',
    ...settings,
  }
  const args = Object.entries(effectiveSettings).flatMap(([name, value]) => [`--${name}`, value])

  let server: ServerProcess | null = null
  const redis: PrivateRedis = {
    url,
    directory: directory.path,
    async start() {
      if (server?.isRunning()) throw new Error('The private Redis is already running.')
      server = launchServer({ file, args, user }, directory)
      directory.guard([server.pid])
      await server.ready(() => answersRedis(url))
    },
    async kill() {
      await server?.kill()
      directory.guard([])
    },
    async dispose() {
      await redis.kill()
      await directory.remove()
    },
  }
  try {
    await redis.start()
  } catch (error) {
    await redis.dispose()
    throw error
  }
  return redis
}
