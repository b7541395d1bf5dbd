import { type Endpoint, keyed } from '../endpoint.js'
import { EventStream } from '../event-stream.js'
import { RequestError } from '../problem.js'
import { fields, text } from '../read-input.js'

export const streamEndpoints: readonly Endpoint[] = [
  keyed({
    method: 'get',
    path: '/api/events/stream',
    scope: 'read',
    tag: 'Events',
    summary: 'What happens, as it happens',
    description:
      'Server-sent events, at most a few a second however much happens: each tells what kind of thing happened how often, with up to 20 of them. An id leads on from where a connection broke (Last-Event-ID, or after) for 15 minutes; after that, `reset` says to read everything again. `renew` asks to connect again. What happened just before an id may be told once more after it.',
    query: fields({ after: text(100).optional().openapi({ description: 'The id of the last event that was heard.' }) }),
    answers: 'A stream that ends when the client goes away.',
    answer: { contentType: 'text/event-stream' },
    async run({ caller, query, header, watcher }) {
      const after = query.after ?? header('last-event-id') ?? null
      const stream = new EventStream()
      const leave = await watcher.watch(caller.workspaceId, after, stream)
      if (!leave) {
        stream.end()
        throw new RequestError('rate_limited', 'Too many streams are open already. Ask again later.', {
          headers: { 'Retry-After': '30' },
        })
      }
      stream.whenOver(leave)
      return new Response(stream.body, {
        headers: { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store', 'X-Accel-Buffering': 'no' },
      })
    },
  }),
]
