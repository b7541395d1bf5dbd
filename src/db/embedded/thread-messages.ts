/** What the thread that runs the embedded database and the thread that opened it tell each other. */
import type { DirectoryOwner } from './directory-lock.js'
import type { SocketAddress } from './socket-path.js'
import type { Durability } from './start-backend.js'

export interface ThreadOptions {
  readonly directory: string
}

export type FromThread =
  | { readonly type: 'ready'; readonly socket: SocketAddress; readonly durability: Durability }
  /** Another process owns the directory. */
  | { readonly type: 'refused'; readonly owner: DirectoryOwner }
  /** It could not start, or it has crashed; the thread ends. */
  | { readonly type: 'failed'; readonly reason: string }
  | { readonly type: 'notify'; readonly channel: string }
  | { readonly type: 'log'; readonly message: string; readonly detail?: object }

export type ToThread = { readonly type: 'close' }
