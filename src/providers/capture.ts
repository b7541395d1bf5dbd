import type { Message } from '../domain/message.js'
import type { Delivery, Hold, Provider, ProviderResult } from './provider.js'

/**
 * The dev inbox: takes every email and keeps it instead of sending it. It goes the same way as a real hand-over, with an
 * arm before it, so that what is seen in development is what happens in production.
 */
export interface CaptureOptions {
  readonly compose: (message: Message) => Buffer | Promise<Buffer>
  /** Keeps it; keeping the same action twice keeps it once. */
  readonly keep: (captured: Captured) => Promise<void>
}

export interface Captured {
  readonly id: string
  readonly workspaceId: string
  readonly emailId: string
  readonly returnPath: string
  readonly recipient: string
  readonly raw: Buffer
}

export function createCaptureProvider({ compose, keep }: CaptureOptions): Provider {
  const evidence = (durationMs: number) => ({
    phase: 'reply' as const,
    code: 250,
    enhancedCode: '2.0.0',
    reply: 'Kept in the dev inbox.',
    remoteHost: null,
    durationMs,
  })

  const send = async (delivery: Delivery, hold: Hold): Promise<ProviderResult> => {
    const startedAt = performance.now()
    const { actionId, message, returnPath, recipient } = delivery
    const raw = await compose(message)
    if (hold.signal.aborted || !(await hold.arm()) || !hold.holds()) return { kind: 'released' }
    const { id: emailId, workspaceId } = message
    await keep({ id: actionId, workspaceId, emailId, returnPath, recipient, raw })
    return { kind: 'accepted', evidence: evidence(performance.now() - startedAt) }
  }

  return {
    send,
    verify: () => Promise.resolve({ ok: true, evidence: evidence(0) }),
    close: () => Promise.resolve(),
    // It waits for nobody but our own database.
    cutShort: () => undefined,
  }
}
