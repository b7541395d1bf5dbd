import { readFileSync } from 'node:fs'
import { afterEach } from 'vitest'

import type { Message } from '../../src/domain/message.js'
import type { Delivery, Hold, Provider, ProviderResult } from '../../src/providers/provider.js'
import { SMTP_TIMEOUTS, type SmtpTimeouts } from '../../src/providers/smtp/smtp-timeouts.js'
import type { SmtpSettings } from '../../src/providers/smtp-settings.js'
import { createSmtpProvider, type SmtpProviderOptions } from '../../src/providers/smtp.js'
import { type ScriptedOptions, type ScriptedSmtp, startScriptedSmtp } from '../support/scripted-smtp.js'

/** For a server that is going to hang. Everywhere else the real ones hold, so that a busy machine fails no test. */
export const SHORT: SmtpTimeouts = {
  ...SMTP_TIMEOUTS,
  connectMs: 500,
  greetingMs: 500,
  commandMs: 500,
  bodyMs: 500,
  replyMs: 500,
}

export const BODY = 'Subject: hello\r\n\r\nHello.\r\n'

const closing: (() => Promise<void>)[] = []

/** For every file that opens something here. */
export const closeAfterEach = () =>
  afterEach(async () => {
    for (const close of closing.splice(0).toReversed()) await close()
  })

export async function startServer(options: ScriptedOptions = {}): Promise<ScriptedSmtp> {
  const server = await startScriptedSmtp(options)
  closing.push(() => server.close())
  return server
}

export interface ProviderFor extends SmtpProviderOptions {
  readonly settings?: Partial<SmtpSettings>
  readonly body?: string | Buffer | (() => string | Buffer)
}

export function providerFor(server: { readonly port: number }, options: ProviderFor = {}): Provider {
  const { body = BODY } = options
  const compose = () => Buffer.from(typeof body === 'function' ? body() : body)
  const provider = createSmtpProvider(settingsFor(server.port, options.settings), compose, {
    ...(options.timeouts && { timeouts: options.timeouts }),
    ...(options.log && { log: options.log }),
  })
  closing.push(() => provider.close())
  return provider
}

export function settingsFor(port: number, settings: Partial<SmtpSettings> = {}): SmtpSettings {
  return {
    host: '127.0.0.1',
    port,
    implicitTls: false,
    starttls: 'opportunistic',
    auth: { kind: 'none' },
    tlsServerName: null,
    tlsCa: null,
    verifyCertificate: true,
    maxConnections: 5,
    maxMessagesPerConnection: 100,
    helloName: 'client.test',
    dkim: null,
    ...settings,
  }
}

export function delivery(changes: Partial<Delivery> = {}): Delivery {
  const message = { id: 'm1', messageId: '<m1@example.com>' } as Message
  return { actionId: 'a1', message, returnPath: 'bounce@example.com', recipient: 'ann@example.com', ...changes }
}

export class TestHold implements Hold {
  readonly controller = new AbortController()
  armed = 0
  readonly #onArm: () => boolean | Promise<boolean>
  readonly #onHolds: () => boolean
  constructor(onArm: () => boolean | Promise<boolean> = () => true, onHolds: () => boolean = () => true) {
    this.#onArm = onArm
    this.#onHolds = onHolds
  }
  get signal(): AbortSignal {
    return this.controller.signal
  }
  async arm(): Promise<boolean> {
    this.armed++
    return this.#onArm()
  }
  holds(): boolean {
    return this.#onHolds()
  }
}

export function send(provider: Provider, hold: Hold = new TestHold()): Promise<ProviderResult> {
  return provider.send(delivery(), hold)
}

export function certificate(name: string): { key: string; cert: string } {
  return { key: pem(`${name}-key`), cert: pem(name) }
}

export function pem(name: string): string {
  return readFileSync(new URL(`certificates/${name}.pem`, import.meta.url), 'utf8')
}

/** A promise with its handles outside, which Node 20 does not have yet. */
export function promised<T>(): { readonly promise: Promise<T>; readonly resolve: (value: T) => void } {
  let resolve!: (value: T) => void
  const promise = new Promise<T>((settle) => (resolve = settle))
  return { promise, resolve }
}
