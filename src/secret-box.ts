import { createCipheriv, createDecipheriv, createHmac, createPrivateKey, hkdfSync, randomBytes } from 'node:crypto'

/** What POSTRIDER_SECRET is for: credentials are stored sealed, and links are signed. */
export interface SecretBox {
  seal(text: string): string
  /** Throws if it was sealed with another secret, or changed. */
  open(sealed: string): string
  sign(text: string): string
}

export function isPrivateKey(pem: string): boolean {
  try {
    createPrivateKey(pem)
    return true
  } catch {
    return false
  }
}

const VERSION = 'v1'
const IV_BYTES = 12
const TAG_BYTES = 16

export function createSecretBox(secret: string): SecretBox {
  // One key per purpose, so that a signature can never help with what is sealed.
  const derive = (purpose: string) => Buffer.from(hkdfSync('sha256', secret, 'postrider', purpose, 32))
  const sealing = derive('credentials')
  const signing = derive('links')
  return {
    seal(text) {
      const iv = randomBytes(IV_BYTES)
      const cipher = createCipheriv('aes-256-gcm', sealing, iv)
      const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
      return `${VERSION}.${Buffer.concat([iv, cipher.getAuthTag(), body]).toString('base64url')}`
    },
    open(sealed) {
      const [version, data] = sealed.split('.')
      if (version !== VERSION || !data) throw new Error('Sealed in an unknown way.')
      const bytes = Buffer.from(data, 'base64url')
      const decipher = createDecipheriv('aes-256-gcm', sealing, bytes.subarray(0, IV_BYTES))
      decipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES))
      return Buffer.concat([decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES)), decipher.final()]).toString('utf8')
    },
    sign: (text) => createHmac('sha256', signing).update(text).digest('base64url'),
  }
}
