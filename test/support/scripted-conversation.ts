import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { createSecureContext, TLSSocket } from 'node:tls'

import type { Act, Point, ScriptedSmtp } from './scripted-smtp.js'

const VERBS: Readonly<Record<string, Point>> = {
  EHLO: 'ehlo',
  HELO: 'ehlo',
  STARTTLS: 'starttls',
  AUTH: 'auth',
  MAIL: 'mail',
  RCPT: 'rcpt',
  DATA: 'data',
  RSET: 'rset',
}

/** One connection to the scripted server, from its greeting to its end. */
export class Conversation {
  readonly #server: ScriptedSmtp
  readonly #plain: Socket
  readonly #number: number
  #socket: Socket
  #input = Buffer.alloc(0)
  #isDeaf = false
  #isSecure = false
  #authSteps = 0
  #mail: string | null = null
  #rcpt: string | null = null
  #body: 'none' | 'awaited' | 'begun' = 'none'

  constructor(server: ScriptedSmtp, socket: Socket, number: number) {
    this.#server = server
    this.#plain = socket
    this.#number = number
    this.#socket = socket
    socket.on('error', () => {})
    socket.on('close', () => {
      server.open.delete(this)
      server.notice()
    })
    if (server.options.tls?.implicit) this.#secure()
    else this.#listen()
    this.#answer('greeting', '', '220 scripted ESMTP')
  }

  destroy(): void {
    this.#socket.destroy()
    this.#plain.destroy()
  }

  act(act: Act): void {
    if (act.do === 'reply') return this.#say(act.text)
    this.#isDeaf = true
    switch (act.do) {
      case 'drop':
        return void this.#socket.end()
      case 'reset':
        return void this.#plain.resetAndDestroy()
      case 'hang':
        return void this.#socket.pause()
      case 'half-close':
        this.#isDeaf = false
        return void this.#socket.end()
      case 'garbage':
        return void this.#socket.write('\u0000\u0001 this is not SMTP\r\nHTTP/1.1 400 Bad Request\r\n\r\n')
      case 'oversized':
        return void this.#babble(act.lines === true)
      case 'drip':
        return void this.#drip(act.text, act.everyMs, act.thenDrop === true)
    }
  }

  async #babble(inLines: boolean): Promise<void> {
    const piece = Buffer.from((inLines ? '250-more\r\n' : '250-and on').repeat(6_500))
    while (!this.#socket.destroyed && this.#socket.writable) {
      this.#socket.write(piece)
      await sleep(1)
    }
  }

  async #drip(text: string, everyMs: number, thenDrop: boolean): Promise<void> {
    for (const letter of text) {
      if (this.#socket.destroyed || !this.#socket.writable) return
      this.#socket.write(letter)
      await sleep(everyMs)
    }
    if (thenDrop) this.#socket.end()
  }

  #secure(): void {
    const { key, cert } = this.#server.options.tls!
    const secured = new TLSSocket(this.#plain, { isServer: true, secureContext: createSecureContext({ key, cert }) })
    secured.on('error', () => this.destroy())
    this.#socket = secured
    this.#isSecure = true
    this.#listen()
  }

  #listen(): void {
    const socket = this.#socket
    socket.on('data', (chunk: Buffer) => {
      if (this.#isDeaf || socket !== this.#socket) return
      this.#input = Buffer.concat([this.#input, chunk])
      this.#read()
    })
    socket.on('end', () => socket.end())
  }

  #read(): void {
    while (!this.#isDeaf && this.#input.length > 0) {
      if (this.#body !== 'none') {
        if (!this.#readBody()) return
        continue
      }
      const end = this.#input.indexOf('\r\n')
      if (end === -1) return
      const line = this.#input.toString('utf8', 0, end)
      this.#input = this.#input.subarray(end + 2)
      this.#server.hear(line)
      this.#command(line)
    }
  }

  /** Only CRLF, a dot and CRLF end a message: whatever else a client takes for an end shows up in its bytes. */
  #readBody(): boolean {
    if (this.#body === 'awaited') {
      this.#body = 'begun'
      this.#server.hear('<body>')
      const act = this.#server.script('body', '', this.#number)
      if (act) {
        this.act(act)
        if (act.do !== 'half-close') {
          // It has made up its mind, and reads no more of the message.
          this.#isDeaf = true
          this.#socket.pause()
          return false
        }
      }
    }
    const isEmpty = this.#input.subarray(0, 3).equals(Buffer.from('.\r\n'))
    const end = isEmpty ? -2 : this.#input.indexOf('\r\n.\r\n')
    if (end === -1) return false
    const raw = Buffer.from(this.#input.subarray(0, end + 2))
    this.#input = this.#input.subarray(end + 5)
    this.#body = 'none'
    if (this.#server.takesAtDot) this.#server.taken.push({ mail: this.#mail!, rcpt: this.#rcpt!, raw })
    this.#mail = null
    this.#rcpt = null
    this.#answer('dot', '', '250 2.0.0 Ok: queued as 4XyZ')
    this.#server.notice()
    return true
  }

  #command(line: string): void {
    if (this.#authSteps > 0) return this.#continueAuth(line)
    const verb = line.split(' ', 1)[0]!.toUpperCase()
    if (verb === 'QUIT') {
      this.#say('221 2.0.0 Bye')
      this.#socket.end()
      return
    }
    const point = VERBS[verb]
    if (!point) return this.#say('500 5.5.2 What?')
    if (point === 'ehlo') return this.#answer(point, line, this.#ehlo())
    if (point === 'starttls') return this.#starttls(line)
    if (point === 'auth') return this.#auth(line)
    if (point === 'rcpt' && this.#mail === null) return this.#say('503 5.5.1 MAIL first')
    if (point === 'data' && this.#rcpt === null) {
      const act = this.#mail === null ? undefined : this.#server.script('data', line, this.#number)
      return act ? this.act(act) : this.#say('554 5.5.1 No valid recipients')
    }
    const act = this.#server.script(point, line, this.#number)
    const isGood = !act || (act.do === 'reply' && /^[23]/.test(act.text))
    if (point === 'mail' && isGood) this.#mail = line
    if (point === 'rcpt' && isGood) this.#rcpt = line
    if (point === 'rset') this.#mail = this.#rcpt = null
    if (point === 'data' && (!act || (act.do === 'reply' && act.text.startsWith('354')))) this.#body = 'awaited'
    if (act) this.act(act)
    else this.#say(point === 'data' ? '354 End data with <CR><LF>.<CR><LF>' : '250 2.1.0 Ok')
  }

  #ehlo(): string {
    const { extensions = ['PIPELINING', 'SIZE 50000000', 'SMTPUTF8'], tls } = this.#server.options
    const offered = ['scripted', ...extensions, ...(tls && !this.#isSecure ? ['STARTTLS'] : [])]
    return offered.map((name, index) => `250${index === offered.length - 1 ? ' ' : '-'}${name}`).join('\r\n')
  }

  #starttls(line: string): void {
    const act = this.#server.script('starttls', line, this.#number)
    if (act) return this.act(act)
    if (!this.#server.options.tls) return this.#say('502 5.5.1 Not here')
    this.#socket.write(`220 2.0.0 Ready\r\n${this.#server.options.injectAfterStarttls ?? ''}`)
    this.#plain.removeAllListeners('data')
    this.#input = Buffer.alloc(0)
    this.#secure()
  }

  #auth(line: string): void {
    const act = this.#server.script('auth', line, this.#number)
    if (act) return this.#actInAuth(act)
    if (line.startsWith('AUTH LOGIN')) {
      this.#authSteps = 2
      return this.#say('334 VXNlcm5hbWU6')
    }
    this.#say('235 2.7.0 Welcome')
  }

  #continueAuth(line: string): void {
    this.#authSteps--
    const act = this.#server.script('auth', line, this.#number)
    if (act) return this.#actInAuth(act)
    this.#say(this.#authSteps > 0 ? '334 UGFzc3dvcmQ6' : '235 2.7.0 Welcome')
  }

  /** After a 334 the client's next line is not a command. */
  #actInAuth(act: Act): void {
    this.#authSteps = act.do === 'reply' && act.text.startsWith('334') ? 1 : 0
    this.act(act)
  }

  #answer(point: Point, line: string, usual: string): void {
    const act = this.#server.script(point, line, this.#number)
    if (act) this.act(act)
    else this.#say(usual)
  }

  #say(text: string): void {
    this.#socket.write(`${text}\r\n`)
  }
}
