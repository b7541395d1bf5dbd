import { getRequestListener, RequestError as UnreadableRequest } from '@hono/node-server'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { PostriderError } from '../errors.js'
import { newId } from '../id.js'
import { problemResponse, RequestError } from './problem.js'

export interface Serving {
  readonly url: string
  /** Takes no more connections, finishes the requests that are under way, then ends. */
  close(): Promise<void>
}

/** Longer than an inline send takes; whoever still sends a body then is cut off. */
const GRACE_MS = 30_000

/** A file of a million contacts is taken as fast as the database writes them, which is longer than the usual 5 minutes. */
const LONGEST_REQUEST_MS = 3_600_000

export async function serve(
  app: { fetch(request: Request, env?: unknown): Promise<Response> | Response },
  { host, port }: { host: string; port: number },
): Promise<Serving> {
  const streams = createStreams()
  const answer = getRequestListener(async (request, env) => streams.watch(await app.fetch(request, env), env), {
    // For those who ask without naming a host, as simple health checks do.
    hostname: 'localhost',
    errorHandler: describeUnreadable,
  })
  const server = createServer(
    { requestTimeout: LONGEST_REQUEST_MS },
    (request, response) => void answer(request, response),
  )
  const connections = watchConnections(server)
  await listen(server, host, port)
  const { address, family, port: bound } = server.address() as AddressInfo
  const anywhere = address === '0.0.0.0' || address === '::'
  const shown = anywhere ? 'localhost' : family === 'IPv6' ? `[${address}]` : address
  let closed: Promise<void> | undefined
  return { url: `http://${shown}:${bound}`, close: () => (closed ??= close(server, connections, streams)) }
}

/** What never became a request that the app could have answered. */
const describeUnreadable = (error: unknown) =>
  problemResponse(
    error instanceof UnreadableRequest
      ? new RequestError('request_malformed', 'The target or the Host header of the request cannot be read.')
      : error,
    { requestId: newId(), userAgent: undefined },
  )

const listen = (server: Server, host: string, port: number) =>
  new Promise<void>((resolve, reject) => {
    const onError = (error: NodeJS.ErrnoException) => reject(describeFailure(error, host, port))
    server.once('error', onError)
    server.listen(port, host, () => {
      server.off('error', onError)
      resolve()
    })
  })

function describeFailure(error: NodeJS.ErrnoException, host: string, port: number): Error {
  const sentence: Readonly<Record<string, string>> = {
    EADDRINUSE: `Port ${port} on ${host} is in use by another process: stop it, or set PORT to another one.`,
    EACCES: `This user may not listen on port ${port}: set PORT to one above 1023.`,
    EADDRNOTAVAIL: `This machine has no address ${host}: set HOST to one it has, such as 127.0.0.1.`,
    ENOTFOUND: `The name ${host} does not lead to an address: set HOST to one, such as 127.0.0.1.`,
  }
  const known = sentence[error.code ?? '']
  return known === undefined ? error : new PostriderError('setting_invalid', known, { cause: error })
}

interface Connections {
  /** Ends those on which nothing is being answered, now and as the others get there. */
  endWhenQuiet(): void
}

/** Node's own idea of an idle connection leaves out those that never asked anything, and browsers keep such in reserve. */
function watchConnections(server: Server): Connections {
  const answering = new Map<Socket, number>()
  let ending = false
  const add = (socket: Socket, change: number) => {
    const left = (answering.get(socket) ?? 0) + change
    answering.set(socket, left)
    if (ending && left === 0) socket.destroySoon()
  }
  server.on('connection', (socket: Socket) => {
    add(socket, 0)
    socket.once('close', () => answering.delete(socket))
  })
  server.on('request', ({ socket }, response) => {
    add(socket, 1)
    response.once('close', () => answering.has(socket) && add(socket, -1))
  })
  return {
    endWhenQuiet() {
      ending = true
      for (const socket of answering.keys()) add(socket, 0)
    },
  }
}

interface Streams {
  watch(answer: Response, env: unknown): Response
  end(): void
}

/** Answers that would never end by themselves; whoever listens goes on elsewhere from the last id. */
function createStreams(): Streams {
  const open = new Set<ServerResponse>()
  let ending = false
  return {
    watch(answer, env) {
      const { outgoing } = env as { readonly outgoing?: ServerResponse }
      if (!outgoing || !answer.headers.get('content-type')?.startsWith('text/event-stream')) return answer
      if (ending) setImmediate(() => outgoing.end())
      open.add(outgoing)
      outgoing.once('close', () => open.delete(outgoing))
      return answer
    },
    end() {
      ending = true
      for (const outgoing of open) outgoing.end()
    },
  }
}

const close = (server: Server, connections: Connections, streams: Streams) =>
  new Promise<void>((resolve) => {
    const late = setTimeout(() => server.closeAllConnections(), GRACE_MS)
    server.close(() => {
      clearTimeout(late)
      resolve()
    })
    streams.end()
    connections.endWhenQuiet()
  })
