import type { Socket } from 'node:net'
import { type SecureContext, TLSSocket } from 'node:tls'
import { BodyReader } from './body-reader.js'
import type { Dice, Fault, Phase, Temper } from './chaos.js'
import { announcedSize, parsePath, splitCommand } from './command-line.js'
import { type AuthStep, beginAuth, type Credentials, MECHANISMS } from './credentials.js'
import type { Arrived } from './ledger.js'
import { LineReader } from './line-reader.js'
import { misbehave, repliedAfter } from './misbehave.js'
import { helloReply, REPLIES } from './replies.js'
import { Wire } from './wire.js'

const MAX_RECIPIENTS = 10_000
/** As many dripped bytes long: the wait before a slow greeting, and the one after each piece of a body read slowly. */
const SLOW_CONNECT_BYTES = 20
const SLOW_BODY_BYTES = 1

/** What all conversations of a sink have in common. */
export interface House {
  /** Writes it down; false when that failed, and then it is not taken. */
  readonly take: (arrived: Arrived) => boolean
  readonly tls: { readonly mode: 'starttls' | 'implicit'; readonly context: SecureContext } | null
  readonly auth: Credentials | null
  readonly temper: Temper | null
  readonly maxMessageBytes: number
  readonly dripMs: number
  readonly onFault: (connection: number, fault: Fault) => void
}

/** One connection, from its first byte to its last. */
export class Conversation {
  readonly #id: number
  readonly #house: House
  readonly #dice: Dice
  readonly #wire: Wire
  #socket: Socket
  #lines = new LineReader()
  /** What has arrived and must wait until an answer has been dripped. */
  #unread: Buffer | null = null
  #opened = false
  #slowly = false
  #upgrade = false
  #secure = false
  #greeted = false
  #authenticated: boolean
  #auth: ((line: string) => AuthStep) | null = null
  #from: string | null = null
  #to: string[] = []
  #body: BodyReader | null = null
  #bodyBegun = false
  #bodySlowly = false
  /** The body was answered before its end: the rest of it is read and forgotten. */
  #bodyRefused = false

  constructor(socket: Socket, id: number, house: House, dice: Dice) {
    this.#id = id
    this.#house = house
    this.#dice = dice
    this.#socket = socket
    this.#authenticated = house.auth === null
    this.#wire = new Wire(socket, house.dripMs, () => this.#goOn())
  }

  start(): void {
    this.#listen()
    const fault = this.#roll('connect')
    if (fault === null) return this.#open()
    if (fault.act === 'slow') return this.#wire.dawdle(SLOW_CONNECT_BYTES)
    misbehave(this.#wire, fault)
    // Nobody has been greeted, so there is nothing to go on with.
    if (fault.act === 'reply' || fault.act === 'garbage') this.#wire.end()
  }

  /** The sink closes. Whoever is between two commands or inside a body is told; an answer under way stays half. */
  close(): void {
    if (!this.#wire.listening) return void this.#socket.destroy()
    this.#wire.say(REPLIES.shuttingDown)
    this.#wire.end()
  }

  #listen(): void {
    // A connection that breaks is none of our mistakes; its end is noticed by `close`.
    this.#socket.on('error', () => undefined)
    // Node would wait for ever to send a greeting through a handshake the client has walked away from.
    this.#socket.on('end', () => this.#wire.end())
    this.#socket.on('data', (chunk: Buffer) => {
      if (this.#wire.listening) this.#consume(chunk)
      else if (this.#wire.talking) this.#unread = this.#unread ? Buffer.concat([this.#unread, chunk]) : chunk
    })
  }

  #open(): void {
    this.#opened = true
    if (this.#house.tls?.mode === 'implicit') this.#startTls()
    if (!this.#hindered('greeting')) this.#reply(REPLIES.greeting)
    this.#wire.flush()
  }

  #startTls(): void {
    const raw = this.#socket
    raw.removeAllListeners('data')
    this.#socket = new TLSSocket(raw, { isServer: true, secureContext: this.#house.tls!.context })
    // A handshake that fails on a socket wrapped by hand is told by this event only, and leaves the connection open.
    this.#socket.on('_tlsError', () => raw.destroy())
    this.#secure = true
    this.#wire.wrap(this.#socket)
    this.#listen()
  }

  /** After a wait. */
  #goOn(): void {
    if (!this.#opened) return this.#open()
    const unread = this.#unread
    this.#unread = null
    if (this.#upgrade) {
      // What came in the clear after STARTTLS is not part of what is encrypted: obeying it would let anybody on the way
      // put commands into the secure session (CVE-2011-0411).
      this.#upgrade = false
      this.#greeted = false
      this.#forgetEnvelope()
      this.#lines = new LineReader()
      this.#startTls()
    } else if (unread) this.#consume(unread)
  }

  #consume(chunk: Buffer): void {
    let at = 0
    while (at !== -1 && at < chunk.length && this.#wire.listening && !this.#upgrade)
      at = this.#body ? this.#readBody(chunk, at, this.#body) : this.#readLine(chunk, at)
    this.#unread = at !== -1 && at < chunk.length && this.#wire.talking ? chunk.subarray(at) : null
    this.#wire.flush()
    if (this.#upgrade && this.#wire.listening) this.#goOn()
  }

  #readLine(chunk: Buffer, start: number): number {
    const at = this.#lines.read(chunk, start)
    const { line, problem } = this.#lines
    if (problem) this.#wire.say(REPLIES[problem])
    else if (line !== null && this.#auth) this.#takeAuthStep(this.#auth(line))
    else if (line !== null) this.#obey(line)
    return at
  }

  #obey(line: string): void {
    const { verb, rest } = splitCommand(line)
    switch (verb) {
      case 'MAIL':
        return this.#mail(rest)
      case 'RCPT':
        return this.#rcpt(rest)
      case 'DATA':
        return this.#data(rest)
      case 'EHLO':
      case 'HELO':
        return this.#hello(verb, rest)
      case 'STARTTLS':
        return this.#offerTls(rest)
      case 'AUTH':
        return this.#beginAuth(rest)
      case 'RSET':
      case 'NOOP':
        if (verb === 'RSET') this.#forgetEnvelope()
        return this.#wire.say(REPLIES.ok)
      case 'VRFY':
        return this.#wire.say(rest === '' ? REPLIES.badArgument : REPLIES.vrfy)
      case 'HELP':
        return this.#wire.say(REPLIES.help)
      case 'QUIT':
        this.#wire.say(REPLIES.bye)
        return this.#wire.end()
      default:
        return this.#wire.say(REPLIES.unknown)
    }
  }

  #hello(verb: 'EHLO' | 'HELO', name: string): void {
    if (name === '') return this.#wire.say(REPLIES.badArgument)
    if (this.#hindered('ehlo')) return
    this.#greeted = true
    this.#forgetEnvelope()
    if (verb === 'HELO') return this.#reply(REPLIES.hello)
    const { tls, auth, maxMessageBytes } = this.#house
    const offers = ['PIPELINING', `SIZE ${maxMessageBytes}`, '8BITMIME', 'SMTPUTF8', 'ENHANCEDSTATUSCODES']
    if (tls && !this.#secure) offers.push('STARTTLS')
    if (auth) offers.push(`AUTH ${MECHANISMS.join(' ')}`)
    this.#reply(helloReply(offers))
  }

  #offerTls(rest: string): void {
    if (!this.#house.tls) return this.#wire.say(REPLIES.unknown)
    if (rest !== '') return this.#wire.say(REPLIES.badArgument)
    if (this.#secure) return this.#wire.say(REPLIES.badSequence)
    if (this.#hindered('starttls')) return
    this.#upgrade = true
    this.#reply(REPLIES.startTls)
  }

  #beginAuth(argument: string): void {
    if (!this.#house.auth) return this.#wire.say(REPLIES.unknown)
    if (!this.#greeted || this.#from !== null) return this.#wire.say(REPLIES.badSequence)
    if (this.#authenticated) return this.#wire.say(REPLIES.authAlready)
    this.#takeAuthStep(beginAuth(this.#house.auth, argument))
  }

  #takeAuthStep(step: AuthStep): void {
    this.#auth = step.kind === 'ask' ? step.next : null
    if (step.kind === 'ask') return this.#wire.say(`334 ${step.challenge}\r\n`)
    if (step.kind === 'refused') return this.#wire.say(REPLIES[step.why])
    if (this.#hindered('auth')) return
    this.#authenticated = step.granted
    this.#reply(step.granted ? REPLIES.authOk : REPLIES.authWrong)
  }

  #mail(rest: string): void {
    if (!this.#greeted || this.#from !== null) return this.#wire.say(REPLIES.badSequence)
    if (!this.#authenticated) return this.#wire.say(REPLIES.authFirst)
    const path = parsePath('FROM:', rest)
    if (!path) return this.#wire.say(REPLIES.badArgument)
    if (announcedSize(path.parameters) > this.#house.maxMessageBytes) return this.#wire.say(REPLIES.tooLarge)
    if (this.#hindered('mail')) return
    this.#from = path.address
    this.#reply(REPLIES.mailOk)
  }

  #rcpt(rest: string): void {
    if (this.#from === null) return this.#wire.say(REPLIES.badSequence)
    const path = parsePath('TO:', rest)
    if (!path || path.address === '') return this.#wire.say(REPLIES.badArgument)
    if (this.#to.length >= MAX_RECIPIENTS) return this.#wire.say(REPLIES.tooManyRecipients)
    if (this.#hindered('rcpt', path.address)) return
    this.#to.push(path.address)
    this.#reply(REPLIES.rcptOk)
  }

  #data(rest: string): void {
    if (rest !== '') return this.#wire.say(REPLIES.badArgument)
    if (this.#from === null) return this.#wire.say(REPLIES.badSequence)
    if (this.#to.length === 0) return this.#wire.say(REPLIES.noRecipients)
    if (this.#hindered('data')) return
    this.#body = new BodyReader(this.#house.maxMessageBytes)
    this.#bodyBegun = this.#bodySlowly = this.#bodyRefused = false
    this.#reply(REPLIES.data)
  }

  #readBody(chunk: Buffer, start: number, body: BodyReader): number {
    if (!this.#bodyBegun) {
      this.#bodyBegun = true
      this.#bodyRefused = this.#hindered('body')
      // Slow, here, is the reading: the answer belongs to the dot.
      this.#bodySlowly = this.#slowly
      this.#slowly = false
      if (!this.#wire.listening) return -1
    }
    const end = body.read(chunk, start)
    if (end !== -1) this.#finish(body)
    else if (this.#bodySlowly) this.#wire.dawdle(SLOW_BODY_BYTES)
    return end
  }

  /** The final dot is here. */
  #finish(body: BodyReader): void {
    const [from, to] = [this.#from!, this.#to]
    this.#body = null
    const fault = this.#bodyRefused || body.tooLarge ? null : this.#roll('dot')
    this.#forgetEnvelope()
    if (this.#bodyRefused) return
    if (body.tooLarge) return this.#wire.say(REPLIES.tooLarge)
    if (fault && !fault.obeys) return misbehave(this.#wire, fault)
    const arrived = { connection: this.#id, from, to, replied: repliedAfter(fault), content: body.content() }
    if (!this.#house.take(arrived)) return this.#wire.say(REPLIES.notLogged)
    this.#slowly = fault?.act === 'slow'
    if (fault && !this.#slowly) misbehave(this.#wire, fault)
    else this.#reply(REPLIES.ok)
  }

  #forgetEnvelope(): void {
    this.#from = null
    this.#to = []
  }

  #reply(text: string): void {
    if (!this.#slowly) return this.#wire.say(text)
    this.#slowly = false
    this.#wire.drip(text)
  }

  #roll(phase: Phase, to = this.#to[0] ?? null): Fault | null {
    const fault = this.#house.temper?.({ phase, from: this.#from, to }) ?? this.#dice(phase)
    if (fault) this.#house.onFault(this.#id, fault)
    return fault
  }

  /** True when something goes wrong here and the command is not to be obeyed: whatever there is to say has been said. */
  #hindered(phase: Phase, to?: string): boolean {
    const fault = this.#roll(phase, to)
    if (fault?.act === 'slow') this.#slowly = true
    else if (fault) misbehave(this.#wire, fault)
    return fault !== null && fault.act !== 'slow'
  }
}
