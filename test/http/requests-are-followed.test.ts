import { context, propagation, type Span, SpanStatusCode, trace } from '@opentelemetry/api'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createApp } from '../../src/http/create-app.js'
import { silent } from '../support/kernel.js'
import { RETRY_POLICIES } from '../../src/domain/retry.js'
import { API_KEY, openApi } from './api-fixture.js'

interface Seen {
  name: string
  ended: boolean
  status?: number
  attributes: Record<string, unknown>
}

/** As much of a tracing SDK as a span needs to be seen. */
function watchSpans(): Seen[] {
  const spans: Seen[] = []
  const startSpan = (name: string): Span => {
    const seen: Seen = { name, ended: false, attributes: {} }
    spans.push(seen)
    return {
      isRecording: () => true,
      updateName: (changed: string) => void (seen.name = changed),
      setAttributes: (attributes: object) => void Object.assign(seen.attributes, attributes),
      setStatus: ({ code }: { code: number }) => void (seen.status = code),
      end: () => void (seen.ended = true),
    } as unknown as Span
  }
  trace.setGlobalTracerProvider({ getTracer: () => ({ startSpan, startActiveSpan: () => undefined }) as never })
  return spans
}

describe('requests are followed', () => {
  const api = openApi('PostgreSQL')
  let spans: Seen[]
  beforeEach(() => void (spans = watchSpans()))
  afterEach(() => {
    trace.disable()
    context.disable()
    propagation.disable()
  })

  // The first, because whoever has asked for a tracer keeps the one that was set then.
  it('and a span that fails takes no answer of a mail server with it', async () => {
    const { body } = await api.call('POST /api/emails', {
      json: { to: 'ada@example.com', subject: 'Hello', text: 'Hello.' },
    })
    await api.drain()
    // These spans cannot set one attribute, which is what sending asks of them.
    expect(spans.map(({ name }) => name)).toContain('postrider.send')
    expect((await api.call(`GET /api/emails/${body.id}`)).body.status).toBe('sent')
  })

  it('with one span each, named by the route and not by what is in its place', async () => {
    await api.call('GET /api/emails/em_00000000000000000000000000000000?q')
    await api.call('DELETE /api/suppressions/ada@example.com')
    await api.call('GET /api/nothing/of/this')
    expect(spans.map(({ name, ended }) => [name, ended])).toEqual([
      ['GET /api/emails/{id}', true],
      ['DELETE /api/suppressions/{email}', true],
      ['GET unknown', true],
    ])
    expect(spans[0]!.attributes).toEqual({
      'http.request.method': 'GET',
      'http.route': '/api/emails/{id}',
      'http.response.status_code': 404,
    })
    expect(spans[0]!.status).toBeUndefined()
  })

  it('and in the log, without a key, a body or an address', async () => {
    const said: unknown[] = []
    const keep = (...line: unknown[]) => void said.push(line)
    const log = { ...silent, debug: keep, info: keep, warn: keep, error: keep } as unknown as typeof silent
    const app = createApp({
      context: { ...api.mail.context, log, wake: () => Promise.reject(new Error('never asked')) as never },
      metrics: {
        expose: () => Promise.reject(new Error('broken')),
        contentType: '',
        onAttempt() {},
        onSettled() {},
        onRebuilt() {},
        onPublished() {},
        onSwept() {},
        onDropped() {},
      },
      retryPolicies: RETRY_POLICIES,
      apiKey: API_KEY,
      adminPassword: null,
      publicUrl: 'http://127.0.0.1:3400',
      cronSecret: null,
      rateLimit: 100,
      inlineDeadlineMs: 1_000,
      tick: () => Promise.resolve({}),
      isReady: () => true,
    })
    const ask = (path: string, init: RequestInit = {}) =>
      app.fetch(
        new Request(`http://localhost${path}`, {
          ...init,
          headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
        }),
      )
    const letter = { to: 'canary@example.com', subject: 'canary', text: 'canary' }
    await ask('/api/emails', { method: 'POST', body: JSON.stringify({ ...letter, wrong: 'canary' }) })
    await ask('/api/emails?to=canary@example.com')
    await ask('/api/suppressions/canary@example.com', { method: 'DELETE' })
    const failed = await ask('/metrics')
    expect(failed.status).toBe(500)
    expect(spans.at(-1)).toMatchObject({ name: 'GET /metrics', status: SpanStatusCode.ERROR })
    const lines = JSON.stringify(said)
    expect(lines).not.toMatch(/canary|the-key-of/)
    expect(lines).toContain('"route":"/api/suppressions/{email}","status":404')
    expect(lines).toContain('"route":"/metrics","status":500')
    await app.close()
  })
})
