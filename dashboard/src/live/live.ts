import type { QueryClient } from '@tanstack/react-query'
import { apiUrl } from '../api/client'

/** `live`: what happens is shown as it happens. `resting`: nobody looks. `lost`: the connection is gone, and tried again. */
export type LiveState = 'connecting' | 'live' | 'resting' | 'lost'

/** What of the screens an event may have changed: the first words of their query keys. */
const TOPICS: Readonly<Record<string, readonly string[]>> = {
  email: ['emails', 'overview', 'campaigns', 'enrollments', 'inbox', 'calendar'],
  event: ['emails', 'contacts', 'enrollments', 'campaigns', 'overview'],
  campaign: ['campaigns', 'overview'],
  sender: ['senders', 'overview'],
  import: ['imports', 'lists', 'contacts', 'overview'],
  enrollment: ['enrollments', 'sequences', 'campaigns', 'calendar'],
}
/** However much happens, screens are read again at most this often. */
const CALM_MS = 1_000
const RETRY_MS = 3_000

/** One stream for the whole page, which says only what changed; the screens then ask for what they show. */
export class Live {
  readonly #client: QueryClient
  readonly #listeners = new Set<() => void>()
  readonly #changed = new Set<string>()
  #source: EventSource | null = null
  #lastId: string | null = null
  #state: LiveState = 'connecting'
  #isWaiting = false
  #retry: ReturnType<typeof setTimeout> | undefined

  constructor(client: QueryClient) {
    this.#client = client
  }

  get state(): LiveState {
    return this.#state
  }

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  start(): () => void {
    const look = () => (document.hidden ? this.#rest() : this.#connect())
    document.addEventListener('visibilitychange', look)
    look()
    return () => {
      document.removeEventListener('visibilitychange', look)
      this.#rest()
    }
  }

  #connect(): void {
    clearTimeout(this.#retry)
    if (this.#source) return
    this.#set(this.#state === 'lost' ? 'lost' : 'connecting')
    const after = this.#lastId === null ? '' : `?after=${encodeURIComponent(this.#lastId)}`
    const source = new EventSource(apiUrl(`/api/events/stream${after}`))
    this.#source = source
    source.addEventListener('open', () => {
      // What happened while nothing was heard is asked for once more.
      if (this.#state === 'lost') void this.#client.invalidateQueries()
      this.#set('live')
    })
    source.addEventListener('message', (message: MessageEvent<string>) => this.#hear(message))
    source.addEventListener('renew', () => {
      source.close()
      this.#source = null
      this.#connect()
    })
    source.addEventListener('reset', (message) => {
      this.#remember(message as MessageEvent<string>)
      void this.#client.invalidateQueries()
    })
    source.addEventListener('error', () => {
      // The browser's own attempts would go on with an address that names an old id.
      source.close()
      if (this.#source !== source) return
      this.#source = null
      this.#set('lost')
      this.#retry = setTimeout(() => !document.hidden && this.#connect(), RETRY_MS)
    })
  }

  #rest(): void {
    clearTimeout(this.#retry)
    this.#source?.close()
    this.#source = null
    this.#set('resting')
  }

  #hear(message: MessageEvent<string>): void {
    this.#remember(message)
    const { type } = JSON.parse(message.data) as { readonly type: string }
    for (const topic of TOPICS[type.split('.')[0]!] ?? []) this.#changed.add(topic)
    if (this.#isWaiting) return
    this.#isWaiting = true
    setTimeout(() => {
      this.#isWaiting = false
      const changed = [...this.#changed]
      this.#changed.clear()
      for (const topic of changed) void this.#client.invalidateQueries({ queryKey: [topic] })
    }, CALM_MS)
  }

  #remember({ lastEventId }: MessageEvent<string>): void {
    if (lastEventId !== '') this.#lastId = lastEventId
  }

  #set(state: LiveState): void {
    if (state === this.#state) return
    this.#state = state
    for (const listener of this.#listeners) listener()
  }
}
