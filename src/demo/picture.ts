import { crc32, deflateSync } from 'node:zlib'

/** A small drawing, as a PNG: two hills under the sun. Drawn here, so that the package carries no image for a demo. */
const WIDTH = 240
const HEIGHT = 100

type Colour = readonly [number, number, number]
const SKY: Colour = [207, 232, 245]
const SUN: Colour = [250, 204, 90]
const FAR: Colour = [151, 194, 120]
const NEAR: Colour = [96, 153, 84]

function colourAt(x: number, y: number): Colour {
  if (y > 78 - 18 * Math.sin(x / 44)) return NEAR
  if (y > 66 - 14 * Math.cos(x / 31)) return FAR
  return (x - 182) ** 2 + (y - 28) ** 2 < 15 ** 2 ? SUN : SKY
}

export function drawGarden(): Buffer {
  const rows = Array.from({ length: HEIGHT }, (_, y) =>
    // Each row begins with the number of its filter: none.
    Buffer.from([0, ...Array.from({ length: WIDTH }, (__, x) => colourAt(x, y)).flat()]),
  )
  const header = Buffer.alloc(13)
  header.writeUInt32BE(WIDTH, 0)
  header.writeUInt32BE(HEIGHT, 4)
  // 8 bits each of red, green and blue.
  header.set([8, 2, 0, 0, 0], 8)
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(Buffer.concat(rows))),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

function chunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const framed = Buffer.alloc(named.length + 8)
  framed.writeUInt32BE(data.length, 0)
  named.copy(framed, 4)
  framed.writeUInt32BE(crc32(named), named.length + 4)
  return framed
}
