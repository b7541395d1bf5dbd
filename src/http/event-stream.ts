import type { Change, ChangeKind } from '../db/read-changes.js'
import { type IdPrefix, showId } from '../id.js'
import type { News, NewsGroup, Spectator } from '../operations/watch-changes.js'

const HEARTBEAT_MS = 15_000
/** Then the client is asked to come again, with its key or its session as they are by then. */
const LONGEST_MS = 300_000
/** Messages that may wait for a client that does not read; then it is let go. */
const PATIENCE = 200

/** In the words of the API: what they are called, and what their ids are ids of. */
const TYPES: Readonly<Record<ChangeKind, { readonly type: string; readonly prefix: IdPrefix }>> = {
  accepted: { type: 'email.accepted', prefix: 'em' },
  planned: { type: 'email.planned', prefix: 'em' },
  attempt: { type: 'email.attempted', prefix: 'em' },
  event: { type: 'event.recorded', prefix: 'evt' },
  campaign: { type: 'campaign.changed', prefix: 'cmp' },
  enrollment: { type: 'enrollment.started', prefix: 'enr' },
  sender: { type: 'sender.changed', prefix: 'snd' },
  import: { type: 'import.changed', prefix: 'imp' },
}

/** One client's connection, as server-sent events. */
export class EventStream implements Spectator {
  readonly body: ReadableStream<Uint8Array>
  readonly #encoder = new TextEncoder()
  readonly #heartbeat: NodeJS.Timeout
  readonly #end: NodeJS.Timeout
  #controller!: ReadableStreamDefaultController<Uint8Array>
  #leave: () => void = () => undefined
  #isOver = false
  #written = 0

  constructor() {
    this.body = new ReadableStream<Uint8Array>(
      { start: (controller) => void (this.#controller = controller), cancel: () => this.end() },
      { highWaterMark: PATIENCE },
    )
    this.#write('retry: 3000\n\n')
    this.#heartbeat = setInterval(() => this.#beat(), HEARTBEAT_MS).unref()
    this.#end = setTimeout(() => {
      this.#write('event: renew\ndata: {}\n\n')
      this.end()
    }, LONGEST_MS).unref()
  }

  tell(news: News, again?: true): void {
    if (again) return this.#write(`event: reset\nid: ${news.cursor}\ndata: {}\n\n`)
    const messages: { readonly type: string }[] = news.groups.map((group) => this.#describe(group))
    // Also when nothing happened: the first of them is where to go on from.
    if (messages.length === 0) messages.push({ type: 'stream.open' })
    for (const [i, message] of messages.entries()) {
      const id = i === messages.length - 1 ? `id: ${news.cursor}\n` : ''
      this.#write(`${id}data: ${JSON.stringify(message)}\n\n`)
    }
  }

  /** Nobody has read a byte of it: it was asked for with HEAD, or by a server that has dropped it. */
  #beat(): void {
    if (this.#controller.desiredSize === PATIENCE - this.#written) this.end()
    else this.#write(': still here\n\n')
  }

  whenOver(leave: () => void): void {
    this.#leave = leave
    if (this.#isOver) leave()
  }

  #describe({ kind, count, more, samples }: NewsGroup) {
    const { type, prefix } = TYPES[kind]
    const show = ({ id, what, about }: Change) => ({ id: showId(prefix, id), what, ...(about !== null && { about }) })
    return { type, count, more, samples: samples.map(show) }
  }

  #write(text: string): void {
    if (this.#isOver) return
    // It reads slower than things happen: it comes again, and is told what it missed.
    if ((this.#controller.desiredSize ?? 0) <= 0) return this.end()
    this.#written++
    this.#controller.enqueue(this.#encoder.encode(text))
  }

  end(): void {
    if (this.#isOver) return
    this.#isOver = true
    clearInterval(this.#heartbeat)
    clearTimeout(this.#end)
    this.#leave()
    try {
      this.#controller.close()
    } catch {
      // The client has closed it already.
    }
  }
}
