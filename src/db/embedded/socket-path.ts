import { createHash } from 'node:crypto'
import { chmodSync, lstatSync, mkdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** What `pg` takes to reach a unix socket: the directory as `host`; the file name follows from the port. */
export interface SocketAddress {
  readonly host: string
  readonly port: number
}

/** Any number would do: it only names the socket file, nothing listens on TCP. */
const PORT = 5432

/** sun_path holds 107 bytes on Linux and 103 on macOS; a longer path is cut short or refused by the kernel. */
const LONGEST_SOCKET_PATH = 103

export function socketFile(socket: SocketAddress): string {
  return join(socket.host, `.s.PGSQL.${socket.port}`)
}

/**
 * The socket lives inside the data directory, or, when that path is too long for the kernel, in a private directory
 * named after it. `directory` must be a real path: two spellings of one directory must lead to one socket.
 */
export function prepareSocket(directory: string): SocketAddress {
  const inside = { host: directory, port: PORT }
  if (fits(inside)) return inside

  const digest = createHash('sha256').update(directory).digest('hex').slice(0, 16)
  const outside = { host: join(tmpdir(), `postrider-${digest}`), port: PORT }
  if (!fits(outside)) {
    throw new Error(
      `No room for a unix socket: both ${directory} and ${outside.host} are longer than the ${LONGEST_SOCKET_PATH} bytes a ` +
        'socket path may have. Choose a shorter data directory, or set TMPDIR to a shorter path.',
    )
  }
  makePrivate(outside.host)
  return outside
}

function fits(socket: SocketAddress): boolean {
  return Buffer.byteLength(socketFile(socket)) <= LONGEST_SOCKET_PATH
}

/** In a shared /tmp somebody else may have made the directory first, and would then own the door to our database. */
function makePrivate(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 })
  const found = lstatSync(path)
  if (!found.isDirectory() || found.uid !== process.getuid?.()) {
    throw new Error(`${path} exists but does not belong to this user. Remove it, or set TMPDIR to a private directory.`)
  }
  chmodSync(path, 0o700)
}
