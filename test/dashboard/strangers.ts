import { createServer, type Server, type Socket } from 'node:net'
import type { AddressInfo } from 'node:net'

/**
 * Everybody else in the world. A browser that is told so finds every other host here, so that whoever is asked for
 * anything, also by a frame that no debugger sees into, or only connected to, is noticed.
 */
export class Strangers {
  readonly #heard: { said: string }[] = []
  readonly #server: Server
  readonly #open = new Set<Socket>()

  private constructor() {
    this.#server = createServer((socket) => {
      this.#open.add(socket)
      const connection = { said: 'nothing' }
      this.#heard.push(connection)
      socket.on('error', () => undefined)
      socket.on('close', () => this.#open.delete(socket))
      socket.once('data', (bytes) => {
        connection.said = describe(bytes)
        socket.end('HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n')
      })
    })
  }

  static async start(): Promise<Strangers> {
    const strangers = new Strangers()
    await new Promise<void>((resolve) => strangers.#server.listen(0, '127.0.0.1', resolve))
    return strangers
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  /** The first line each connection said since this was last asked, with the host it was meant for. */
  takeHeard(): string[] {
    return this.#heard.splice(0).map(({ said }) => said)
  }

  async close(): Promise<void> {
    for (const socket of this.#open) socket.destroy()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}

function describe(bytes: Buffer): string {
  const text = bytes.toString('latin1')
  const line = /^[A-Z]+ \S+/.exec(text)?.[0]
  return line === undefined ? `TLS with ${findServerName(bytes)}` : `${line} of ${/^host: *(\S+)/im.exec(text)?.[1]}`
}

/** A TLS greeting names its host in clear: an extension of type 0, with a list of one name of type 0. */
function findServerName(bytes: Buffer): string {
  for (let at = 0; at + 9 < bytes.length; at++) {
    const length = bytes.readUInt16BE(at + 7)
    if (bytes.readUInt16BE(at) !== 0 || bytes[at + 6] !== 0 || bytes.readUInt16BE(at + 4) !== length + 3) continue
    const name = bytes.toString('latin1', at + 9, at + 9 + length)
    if (/^[\w-]+(?:\.[\w-]+)+$/.test(name)) return name
  }
  return 'somebody'
}
