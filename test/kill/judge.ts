/**
 * The mail server of the kill suite, and its judge. It writes down every hand-over it was offered, how far that came,
 * whether it took the message and what it answered, before it answers. It misbehaves by chance, and it can be told to
 * wait at a point of the conversation, or to call somebody at that instant, so that a process can be killed exactly there.
 *
 * Every process under test has a door of its own, a port, so that the judge knows who offered what.
 */
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { seededRandom, type SeededRandom } from '../support/seeded-random.js'
import { Wire } from './wire.js'

/**
 * `greeting`: connected, and nothing said yet. `data`: DATA was heard, and no 354 said yet. `go`: 354 was said. `body`: the
 * first byte after it came. `dot`: the whole message is here, and nothing said yet. `answered`: 250 was said.
 */
export const POINTS = ['greeting', 'data', 'go', 'body', 'dot', 'answered'] as const
export type Point = (typeof POINTS)[number]

/** One offer of one message to one recipient, as the judge saw it. */
export interface HandOver {
  readonly door: string
  readonly recipient: string
  readonly at: number
  reached: 'envelope' | 'go' | 'body' | 'dot'
  messageId: string | null
  /** Of the message as it came over the wire. */
  sha256: string | null
  taken: boolean
  /** When the first byte of the body came, in the order in which the judge saw things; null when none did. */
  begun: number | null
  /** The code of the last word about this message; null when the judge said none. */
  answer: number | null
  /** When that was said, in the same order. */
  answered: number | null
  /** When its client went away without waiting for an answer. */
  left: number | null
  /** What the judge did wrong, if anything. */
  fault: string | null
}

/** What may go wrong at a moment: a reply code, or the end of the connection; `taken-…` keeps the message all the same. */
export interface Chaos {
  readonly at: 'greeting' | 'mail' | 'rcpt' | 'data' | 'body' | 'dot'
  readonly does: number | 'drop' | 'reset' | 'taken-drop' | 'taken-reset'
  readonly chance: number
}

export interface Door {
  readonly name: string
  readonly port: number
  /** Called the moment a conversation comes to a point; the judge goes on when what it returns is over. */
  onPoint: ((point: Point, handOver: HandOver | null) => void | Promise<void>) | null
  /** Asked before a message is taken: a code to refuse it with, or null. */
  refuse: ((handOver: HandOver) => number | null) | null
  /** Takes no more connections. */
  close(): void
}

export interface Judge {
  readonly handOvers: readonly HandOver[]
  /** The present, in the order in which the judge sees things. */
  moment(): number
  openDoor(name: string): Promise<Door>
  close(): Promise<void>
}

const REPLIES: Readonly<Record<number, string>> = {
  421: '421 4.3.2 Closing',
  450: '450 4.2.0 Come again',
  451: '451 4.3.0 Local trouble',
  550: '550 5.1.1 No such user here',
  554: '554 5.6.0 Not this message',
}

export function startJudge({ seed = 1, chaos = [] }: { seed?: number; chaos?: readonly Chaos[] } = {}): Judge {
  const handOvers: HandOver[] = []
  const servers = new Set<Server>()
  const sockets = new Set<Socket>()
  let connections = 0
  let moments = 0
  const nextMoment = () => ++moments

  return {
    handOvers,
    moment: nextMoment,
    async openDoor(name) {
      const server = createServer({ noDelay: true }, (socket) => {
        sockets.add(socket)
        socket.once('close', () => sockets.delete(socket))
        const random = seededRandom(seed + connections++ * 7_919)
        void new Conversation(socket, door, { handOvers, nextMoment }, createDice(chaos, random)).hold()
      })
      servers.add(server)
      server.listen(0, '127.0.0.1')
      await once(server, 'listening')
      const door: Door = {
        name,
        port: (server.address() as AddressInfo).port,
        onPoint: null,
        refuse: null,
        close() {
          server.close()
          servers.delete(server)
        },
      }
      return door
    },
    async close() {
      const gone = [...sockets].map((socket) => new Promise((resolve) => socket.once('close', resolve)))
      for (const server of servers) server.close()
      for (const socket of sockets) socket.destroy()
      await Promise.all(gone)
    },
  }
}

type Dice = (at: Chaos['at']) => Chaos['does'] | null

const createDice =
  (chaos: readonly Chaos[], random: SeededRandom): Dice =>
  (at) =>
    chaos.find((rule) => rule.at === at && random.next() < rule.chance)?.does ?? null

/** What all conversations of a judge write into. */
interface Log {
  readonly handOvers: HandOver[]
  readonly nextMoment: () => number
}

class Conversation {
  readonly #wire: Wire
  readonly #door: Door
  readonly #log: Log
  readonly #dice: Dice
  #mayMail = false
  #handOver: HandOver | null = null

  constructor(socket: Socket, door: Door, log: Log, dice: Dice) {
    this.#wire = new Wire(socket)
    this.#door = door
    this.#log = log
    this.#dice = dice
  }

  /** Until one side has had enough. */
  async hold(): Promise<void> {
    await this.#reach('greeting')
    if (this.#hinder('greeting')) return this.#wire.end()
    this.#wire.say('220 judge ESMTP')
    for (let line = await this.#wire.line(); line !== null; line = await this.#wire.line()) await this.#obey(line)
  }

  async #obey(line: string): Promise<void> {
    const verb = line.slice(0, 4).toUpperCase()
    switch (verb) {
      case 'EHLO':
        return this.#wire.say('250-judge\r\n250-PIPELINING\r\n250 SIZE 50000000')
      case 'MAIL':
        this.#mayMail = !this.#hinder('mail')
        return this.#mayMail ? this.#wire.say('250 2.1.0 Ok') : undefined
      case 'RCPT':
        return this.#rcpt(line)
      case 'DATA':
        return this.#data()
      case 'RSET':
        this.#mayMail = false
        this.#handOver = null
        return this.#wire.say('250 2.0.0 Ok')
      case 'QUIT':
        this.#wire.say('221 2.0.0 Bye')
        return this.#wire.end()
      default:
        return this.#wire.say('500 5.5.2 What?')
    }
  }

  #rcpt(line: string): void {
    if (!this.#mayMail) return this.#wire.say('503 5.5.1 MAIL first')
    const handOver: HandOver = {
      door: this.#door.name,
      recipient: /<([^>]*)>/.exec(line)?.[1] ?? line,
      at: Date.now(),
      reached: 'envelope',
      messageId: null,
      sha256: null,
      taken: false,
      begun: null,
      answer: null,
      answered: null,
      left: null,
      fault: null,
    }
    this.#log.handOvers.push(handOver)
    this.#handOver = handOver
    if (!this.#hinder('rcpt')) return this.#wire.say('250 2.1.5 Ok')
    this.#handOver = null
  }

  async #data(): Promise<void> {
    const handOver = this.#handOver
    if (!handOver) return this.#wire.say('503 5.5.1 RCPT first')
    await this.#reach('data')
    if (this.#hinder('data')) return void (this.#handOver = null)
    // Before the word is out: what may follow from it must not come as a surprise to whoever reads the log.
    handOver.reached = 'go'
    this.#wire.say('354 Go on')
    await this.#reach('go')
    if (!(await this.#wire.begun())) return void (handOver.left = this.#log.nextMoment())
    handOver.reached = 'body'
    handOver.begun = this.#log.nextMoment()
    await this.#reach('body')
    if (this.#hinder('body')) return
    const message = await this.#wire.message()
    if (message) await this.#decide(handOver, message)
    else handOver.left = this.#log.nextMoment()
    this.#mayMail = false
    this.#handOver = null
  }

  async #decide(handOver: HandOver, message: Buffer): Promise<void> {
    handOver.reached = 'dot'
    handOver.sha256 = createHash('sha256').update(message).digest('hex')
    handOver.messageId = /^Message-ID: *(.*)$/im.exec(message.toString('latin1', 0, 8_192))?.[1]?.trim() ?? null
    const fault = this.#door.refuse?.(handOver) ?? this.#dice('dot')
    handOver.taken = fault === null || fault === 'taken-drop' || fault === 'taken-reset'
    await this.#reach('dot')
    if (fault !== null) return this.#misbehave('dot', fault)
    this.#note(handOver, 250)
    this.#wire.say('250 2.0.0 Ok')
    await this.#reach('answered')
  }

  /** True when something went wrong here and the client was not obeyed. */
  #hinder(at: Chaos['at']): boolean {
    const does = this.#dice(at)
    if (does !== null) this.#misbehave(at, does)
    return does !== null
  }

  #misbehave(at: Chaos['at'], does: Chaos['does']): void {
    if (this.#handOver) this.#handOver.fault = `${at}:${does}`
    if (typeof does !== 'number') return does.endsWith('reset') ? this.#wire.reset() : this.#wire.end()
    if (this.#handOver) this.#note(this.#handOver, does)
    this.#wire.say(REPLIES[does]!)
    if (does === 421) this.#wire.end()
  }

  #note(handOver: HandOver, answer: number): void {
    handOver.answer = answer
    handOver.answered = this.#log.nextMoment()
  }

  async #reach(point: Point): Promise<void> {
    const wait = this.#door.onPoint?.(point, this.#handOver)
    if (!wait) return
    // Unread, so that a client that is in the middle of a large message stays there.
    this.#wire.pause()
    await wait
    this.#wire.resume()
  }
}
