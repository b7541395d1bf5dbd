import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

/**
 * A port nobody listens on, from below the range the kernel gives to outgoing connections (32768 and up on Linux).
 * From inside that range a client knocking at a killed server can be given the server's own port and connect to
 * itself, and a restart can find its port taken by somebody's outgoing connection.
 */
export async function findFreePort(): Promise<number> {
  for (;;) {
    const port = randomInt(15_000, 32_000)
    if (await isFree(port)) return port
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}
