import type { NewIdempotencyKey, PreparedEmail } from '../db/accept-emails.js'
import type { Database } from '../db/client.js'
import type { Sender } from '../db/senders.js'
import type { Evidence } from '../domain/failure.js'
import type { SenderCredentials } from '../domain/sender-credentials.js'
import type { Link } from '../link-signer.js'
import type { Log } from '../log.js'
import type { CampaignRenderer } from '../templates/render-campaign-email.js'
import type { TemplateCache } from '../templates/template-cache.js'

/** What operations need of the running system; put together by compose. */
export interface Context {
  readonly db: Database
  readonly log: Log
  /** Writes emails, together with whoever else accepts at the same moment. Returns when each was accepted, by id. */
  accept(emails: readonly PreparedEmail[], keys: readonly NewIdempotencyKey[]): Promise<ReadonlyMap<string, Date>>
  /** The senders of a workspace, as of a moment ago. */
  sendersOf(workspaceId: string): Promise<readonly Sender[]>
  /** Forget what is remembered of a workspace's senders: one has changed. */
  sendersChanged(workspaceId: string): void
  /** Checks credentials and seals them for storing; throws a sentence about what is wrong with them. */
  sealCredentials(credentials: SenderCredentials): string
  openCredentials(sealed: string): SenderCredentials
  /** Connects and authenticates as a sender would, without sending. */
  testSender(workspaceId: string, senderId: string): Promise<SenderTest>
  /** Where links in emails lead to. */
  readonly publicUrl: string
  /** What the unsubscribe link of a mail is about; null for a token that is none of ours. */
  readLink(token: string): Link | null
  readonly renderer: CampaignRenderer
  readonly templates: TemplateCache
  /** How many people a campaign plans at a time unless it says otherwise. */
  readonly batchSize: number
  /** From 0 to before 1: the gaps between a sender's emails are dice. */
  random(): number
  /** Something may be due. */
  wake(later?: boolean): void
  /** A fresh lease for emails that this process will send within the caller's request. */
  newLease(): NonNullable<PreparedEmail['lease']>
  /** Sends emails that were accepted under such a lease. Resolves when all is settled, or at the deadline. */
  sendNow(emails: readonly PreparedEmail[], deadlineMs: number): Promise<void>
}

export interface SenderTest {
  readonly ok: boolean
  /** How far it came and what the server said. */
  readonly evidence: Evidence | null
}
