import { acceptEmails, type NewIdempotencyKey, type PreparedEmail } from './db/accept-emails.js'
import { type Database, isDatabaseUnavailable } from './db/client.js'
import { findSender, listSenders, type Sender } from './db/senders.js'
import type { LeasedAction } from './domain/action.js'
import type { SenderCredentials } from './domain/sender-credentials.js'
import type { Dispatcher } from './engine/dispatcher.js'
import type { Waker } from './engine/waker.js'
import { groupCommit } from './group-commit.js'
import { newId } from './id.js'
import type { LinkSigner } from './link-signer.js'
import type { Log } from './log.js'
import type { Context } from './operations/context.js'
import type { Providers } from './compose-providers.js'
import type { SecretBox } from './secret-box.js'
import type { CampaignRenderer } from './templates/render-campaign-email.js'
import { createTemplateCache } from './templates/template-cache.js'

/** Puts together what operations need: shared commits, remembered senders, sending within a request. */
export interface ContextOptions {
  readonly db: Database
  readonly log: Log
  readonly dispatcher: Dispatcher
  readonly waker: Waker
  readonly providers: Providers
  readonly worker: string
  readonly leaseMs: number
  readonly secretBox: () => SecretBox
  readonly links: LinkSigner
  readonly publicUrl: string
  readonly renderer: CampaignRenderer
  readonly batchSize: number
  readonly random: () => number
}

/** A group is one statement: up to so many emails, or one large call. */
const ACCEPTED_TOGETHER = 500
/** How old what is remembered of a workspace's senders may be: as long as a paused sender may still be believed open. */
const SENDERS_MS = 1_000

export interface SenderFinder {
  findSender(workspaceId: string, id: string): Promise<Sender | null>
}

interface Accepting {
  readonly emails: readonly PreparedEmail[]
  readonly keys: readonly NewIdempotencyKey[]
}

export function composeContext(options: ContextOptions): Context & SenderFinder {
  const { db, log, dispatcher, waker, providers, worker, leaseMs, secretBox, links, publicUrl, renderer, batchSize } =
    options
  const remembered = new Map<string, { at: number; senders: Promise<readonly Sender[]> }>()

  const accept = groupCommit<Accepting, PromiseSettledResult<ReadonlyMap<string, Date>>>(
    async (calls) => {
      try {
        const all = await acceptEmails(
          db,
          calls.flatMap(({ emails }) => emails),
          calls.flatMap(({ keys }) => keys),
        )
        return calls.map(() => ({ status: 'fulfilled', value: all }))
      } catch (error) {
        if (calls.length === 1 || isDatabaseUnavailable(error)) throw error
        // What the database refuses of one caller is not the others' fault: each for itself.
        return Promise.allSettled(calls.map(({ emails, keys }) => acceptEmails(db, emails, keys)))
      }
    },
    { maxItems: ACCEPTED_TOGETHER, maxFlushes: 2, weigh: ({ emails }) => emails.length },
  )

  const sendersOf = (workspaceId: string) => {
    const known = remembered.get(workspaceId)
    if (known && performance.now() - known.at < SENDERS_MS) return known.senders
    const senders = listSenders(db, workspaceId)
    remembered.set(workspaceId, { at: performance.now(), senders })
    // A failure is not worth remembering.
    senders.catch(() => remembered.delete(workspaceId))
    return senders
  }

  const rememberedSender = async (workspaceId: string, id: string): Promise<Sender | null> =>
    (await sendersOf(workspaceId)).find((sender) => sender.id === id) ?? findSender(db, workspaceId, id)

  return {
    db,
    log,
    async accept(emails, keys) {
      const accepted = await accept({ emails, keys })
      if (accepted.status === 'rejected') throw accepted.reason
      return accepted.value
    },
    sendersOf,
    sendersChanged: (workspaceId) => void remembered.delete(workspaceId),
    findSender: rememberedSender,
    publicUrl,
    readLink: (token) => links.read(token),
    renderer,
    batchSize,
    random: options.random,
    templates: createTemplateCache(),
    wake: (later) => waker.wake(later),
    newLease: () => ({ token: newId(), worker, leaseMs }),
    sealCredentials(credentials) {
      providers.check(credentials)
      return secretBox().seal(JSON.stringify(credentials))
    },
    openCredentials: (sealed) => JSON.parse(secretBox().open(sealed)) as SenderCredentials,
    async testSender(workspaceId, senderId) {
      const sender = await findSender(db, workspaceId, senderId)
      const provider = sender && providers.of(sender)
      return provider ? provider.verify(AbortSignal.timeout(leaseMs)) : { ok: false, evidence: null }
    },
    async sendNow(emails, deadlineMs) {
      const askedAt = performance.now()
      const deadline = AbortSignal.timeout(deadlineMs)
      const settled = Promise.all(
        emails.map((email) =>
          dispatcher.adopt(email.lease!.token, email.deliveries.map(toLeased(email)), askedAt, deadline),
        ),
      )
      // What is armed by then goes on in the background; the caller has waited long enough.
      await Promise.race([settled, past(deadline)])
    },
  }
}

const toLeased =
  (email: PreparedEmail) =>
  (delivery: PreparedEmail['deliveries'][number]): LeasedAction => ({
    id: delivery.id,
    workspaceId: email.workspaceId,
    laneId: email.laneId,
    type: 'send',
    dedupeKey: delivery.dedupeKey,
    attempts: 0,
    payload: { message: email.id, recipient: delivery.recipient },
    retryPolicy: email.retryPolicy,
    enrollmentId: null,
    nodeId: null,
    lagMs: 0,
    priority: 0,
    leaseToken: email.lease!.token,
    inline: true,
  })

/** A moment after the deadline: whoever heard of it first has then written what became of it. */
const GRACE_MS = 250

const past = (deadline: AbortSignal) =>
  new Promise<void>((resolve) => {
    deadline.addEventListener('abort', () => setTimeout(resolve, GRACE_MS), { once: true })
  })
