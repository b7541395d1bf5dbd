import { writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { findBinary } from './find-binary.js'
import { findFreePort } from './free-port.js'
import { answersRabbitmq } from './rabbitmq-probe.js'
import { type RequiredProgram, requireProgram } from './required-program.js'
import { createServerDirectory } from './server-directory.js'
import { launchServer, type ServerProcess } from './server-process.js'
import { findUnprivilegedUser } from './unprivileged-user.js'

export interface PrivateRabbitmq {
  url: string
  directory: string
  /** Durable queues and persistent messages are still there after `kill` and `start`. */
  start(): Promise<void>
  kill(): Promise<void>
  dispose(): Promise<void>
}

export const rabbitmqProgram: RequiredProgram<{ server: string; epmd: string }> = {
  name: 'RabbitMQ',
  find: findRabbitmqBinaries,
  debianPackage: 'rabbitmq-server',
  variable: 'TEST_AMQP_URL',
}

function findRabbitmqBinaries(): { server: string; epmd: string } | null {
  // Debian's /usr/sbin/rabbitmq-server is a wrapper that insists on the account rabbitmq and on writing to
  // /var/log/rabbitmq; the real script behind it runs as anybody, so its directory comes first.
  const server = findBinary('rabbitmq-server', ['/usr/lib/rabbitmq/bin'])
  const epmd = findBinary('epmd')
  return server && epmd ? { server, epmd } : null
}

export async function startPrivateRabbitmq(): Promise<PrivateRabbitmq> {
  const binaries = await requireProgram(rabbitmqProgram)
  const user = findUnprivilegedUser('rabbitmq')
  const directory = createServerDirectory('rabbitmq', user)
  const port = await findFreePort()
  const epmdPort = await findFreePort()
  const distributionPort = await findFreePort()
  const url = `amqp://guest:guest@127.0.0.1:${port}`

  writeFileSync(join(directory.path, 'rabbitmq.conf'), `listeners.tcp.1 = 127.0.0.1:${port}\nlog.console = true\n`)
  writeFileSync(join(directory.path, 'enabled_plugins'), '[].\n')
  const epmdEnvironment = { ERL_EPMD_PORT: String(epmdPort), ERL_EPMD_ADDRESS: '127.0.0.1' }
  const environment = {
    ...epmdEnvironment,
    RABBITMQ_NODENAME: `postrider-${port}@localhost`,
    RABBITMQ_NODE_PORT: String(port),
    RABBITMQ_DIST_PORT: String(distributionPort),
    RABBITMQ_MNESIA_BASE: join(directory.path, 'mnesia'),
    RABBITMQ_LOG_BASE: join(directory.path, 'log'),
    RABBITMQ_LOGS: '-',
    RABBITMQ_CONFIG_FILE: join(directory.path, 'rabbitmq.conf'),
    RABBITMQ_CONF_ENV_FILE: join(directory.path, 'no-environment-file'),
    RABBITMQ_ENABLED_PLUGINS_FILE: join(directory.path, 'enabled_plugins'),
    // "Allow input" makes the start script become the Erlang machine instead of its parent, so that the pid we know is
    // the broker's; -noinput takes the allowance back, or the broker would end at the end of its empty input.
    RABBITMQ_ALLOW_INPUT: 'true',
    // The distribution listens on every interface unless told otherwise.
    RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: '-noinput -kernel inet_dist_use_interface {127,0,0,1}',
  }

  let epmd: ServerProcess | null = null
  let broker: ServerProcess | null = null
  const guardRunning = () =>
    directory.guard([epmd, broker].filter((server) => server?.isRunning()).map((server) => server?.pid ?? 0))

  const rabbitmq: PrivateRabbitmq = {
    url,
    directory: directory.path,
    async start() {
      if (broker?.isRunning()) throw new Error('The private RabbitMQ is already running.')
      if (!epmd?.isRunning()) {
        // Erlang starts its name server, epmd, when none answers: as a daemon that outlives it and that nobody owns.
        // Ours is there first, and stays ours.
        const args = ['-port', String(epmdPort), '-address', '127.0.0.1']
        epmd = launchServer({ file: binaries.epmd, args, env: epmdEnvironment, user }, directory)
        guardRunning()
        await epmd.ready(() => listens(epmdPort))
      }
      broker = launchServer({ file: binaries.server, args: [], env: environment, user }, directory)
      guardRunning()
      await broker.ready(() => answersRabbitmq(url))
    },
    async kill() {
      await broker?.kill()
      guardRunning()
    },
    async dispose() {
      await broker?.kill()
      await epmd?.kill()
      await directory.remove()
    },
  }
  try {
    await rabbitmq.start()
  } catch (error) {
    await rabbitmq.dispose()
    throw error
  }
  return rabbitmq
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port })
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}
