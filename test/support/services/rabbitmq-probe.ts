import { connect } from 'node:net'

const protocolHeader = Buffer.from('AMQP\x00\x00\x09\x01', 'latin1')
const connectionStart = methodId(10, 10)
const connectionTune = methodId(10, 30)

/**
 * True once the broker at an `amqp://` URL has accepted our user: the first half of the AMQP 0-9-1 handshake, spoken
 * over a plain socket. A listening port alone proves nothing: any program can listen, and the user may be unknown.
 */
export function answersRabbitmq(url: string): Promise<boolean> {
  const { hostname, port, username, password } = new URL(url)
  return new Promise((resolve) => {
    const socket = connect({ host: hostname, port: Number(port || 5672) })
    let received = Buffer.alloc(0)
    const conclude = (answer: boolean) => {
      socket.destroy()
      resolve(answer)
    }
    socket.setTimeout(3000, () => conclude(false))
    socket.once('error', () => conclude(false))
    socket.once('close', () => conclude(false))
    socket.once('connect', () => socket.write(protocolHeader))
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk])
      for (let frame = takeFrame(); frame; frame = takeFrame()) {
        const method = frame.readUInt32BE(0)
        if (method === connectionStart) {
          socket.write(startOk(decodeURIComponent(username || 'guest'), decodeURIComponent(password || 'guest')))
        } else return conclude(method === connectionTune)
      }
    })

    /** A frame is type (1), channel (2), length (4), payload, end mark (1). */
    function takeFrame(): Buffer | null {
      if (received.length < 7) return null
      const end = 7 + received.readUInt32BE(3) + 1
      if (received.length < end) return null
      const payload = received.subarray(7, end - 1)
      received = received.subarray(end)
      return payload
    }
  })
}

function startOk(username: string, password: string): Buffer {
  const payload = Buffer.concat([
    uint32(methodId(10, 11)),
    uint32(0), // no client properties
    shortString('PLAIN'),
    longString(`\0${username}\0${password}`),
    shortString('en_US'),
  ])
  return Buffer.concat([Buffer.from([1, 0, 0]), uint32(payload.length), payload, Buffer.from([0xce])])
}

function methodId(classId: number, method: number): number {
  return classId * 65_536 + method
}

function uint32(value: number): Buffer {
  const buffer = Buffer.alloc(4)
  buffer.writeUInt32BE(value)
  return buffer
}

function shortString(text: string): Buffer {
  return Buffer.concat([Buffer.from([Buffer.byteLength(text)]), Buffer.from(text)])
}

function longString(text: string): Buffer {
  return Buffer.concat([uint32(Buffer.byteLength(text)), Buffer.from(text)])
}
