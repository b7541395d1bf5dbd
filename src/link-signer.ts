import { createCipheriv, createDecipheriv, createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'

/** What the unsubscribe link of one mail is about. */
export interface Link {
  readonly listId: string
  readonly contactId: string
  /** The campaign the mail was of, if it was of one. */
  readonly campaignId: string | null
  /** As it was mailed: the link must still work when the contact has been deleted. */
  readonly address: string
}

export interface LinkSigner {
  /** The same for the same link every time: a mail that is sent again is the same mail. */
  sign(link: Link): string
  /** Null for whatever this did not sign. */
  read(token: string): Link | null
}

const VERSION = 1
const TAG_BYTES = 16
const ID_BYTES = 16
/** An address has 254 octets at most. */
const LONGEST = 500
const NO_ID = Buffer.alloc(ID_BYTES)

/**
 * A token is a version, a signature and what it signs: `base64url(version ‖ HMAC ‖ AES-CTR(ids ‖ address))`, with the
 * HMAC of the content as the cipher's initial counter. It is signed so that nobody can make one for somebody else, and
 * encrypted because links end up in the logs of proxies and scanners, where addresses do not belong. It never expires:
 * whoever finds an old mail must be able to leave.
 */
export function createLinkSigner(secret: () => string): LinkSigner {
  let keys: Keys | undefined
  // Asked for when there is a link: a library that sends no marketing mail needs no secret.
  const known = () => (keys ??= deriveKeys(secret()))

  const tagOf = (content: Buffer) =>
    createHmac('sha256', known().signing).update(content).digest().subarray(0, TAG_BYTES)

  return {
    sign({ listId, contactId, campaignId, address }) {
      const content = Buffer.concat([
        toBytes(listId),
        toBytes(contactId),
        campaignId === null ? NO_ID : toBytes(campaignId),
        Buffer.from(address),
      ])
      const tag = tagOf(content)
      const cipher = createCipheriv('aes-256-ctr', known().hiding, tag)
      return Buffer.concat([Buffer.from([VERSION]), tag, cipher.update(content)]).toString('base64url')
    },
    read(token) {
      if (token.length > LONGEST || !/^[\w-]+$/.test(token)) return null
      const bytes = Buffer.from(token, 'base64url')
      // Every token has one spelling.
      if (bytes[0] !== VERSION || bytes.toString('base64url') !== token) return null
      const tag = bytes.subarray(1, 1 + TAG_BYTES)
      const hidden = bytes.subarray(1 + TAG_BYTES)
      if (hidden.length <= 3 * ID_BYTES) return null
      const content = createDecipheriv('aes-256-ctr', known().hiding, tag).update(hidden)
      if (!timingSafeEqual(tagOf(content), tag)) return null
      const id = (index: number) => content.subarray(index * ID_BYTES, (index + 1) * ID_BYTES)
      return {
        listId: toId(id(0)),
        contactId: toId(id(1)),
        campaignId: id(2).equals(NO_ID) ? null : toId(id(2)),
        address: content.toString('utf8', 3 * ID_BYTES),
      }
    },
  }
}

interface Keys {
  readonly signing: Buffer
  readonly hiding: Buffer
}

/** Purposes of their own: nothing else that the secret seals or signs can pass for a link. */
function deriveKeys(secret: string): Keys {
  const derive = (purpose: string) => Buffer.from(hkdfSync('sha256', secret, 'postrider', purpose, 32))
  return { signing: derive('unsubscribe-links:sign'), hiding: derive('unsubscribe-links:hide') }
}

const toBytes = (id: string) => Buffer.from(id.replaceAll('-', ''), 'hex')

const toId = (bytes: Buffer) => bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
