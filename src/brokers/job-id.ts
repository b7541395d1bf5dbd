import { createHash } from 'node:crypto'

/**
 * The id of a broker's job, made of the action's key so that people can find one from the other. BullMQ refuses a colon
 * in most places and ids that are numbers; RabbitMQ takes 255 bytes. So a key is percent-encoded, and a long one is
 * hashed. Keys are unique per workspace, hence the workspace; and an action is published again when it is retried, while
 * the job that brought it the last time may not be quite over, hence the number of the publication.
 */
const LONGEST = 180

export function encodeJobId(workspaceId: string, dedupeKey: string, position: string): string {
  const encoded = encodeURIComponent(dedupeKey)
  // A percent sign followed by `sha` cannot come from a key: one of its own is written %25.
  const key = encoded.length <= LONGEST ? encoded : `%sha-${createHash('sha256').update(dedupeKey).digest('hex')}`
  return `${workspaceId.replaceAll('-', '')}.${key}.${position}`
}
