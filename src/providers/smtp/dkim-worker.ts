/** The thread that signs. It is given whole messages and gives back the header alone, so that bodies travel one way. */
import { createPrivateKey, type KeyObject } from 'node:crypto'
import { parentPort, workerData } from 'node:worker_threads'

import DKIM from 'nodemailer/lib/dkim'

import type { DkimKey, SignAnswer, SignRequest } from './dkim-signer.js'

/**
 * What a signature covers. The two of List-Unsubscribe, because RFC 8058 makes one-click unsubscribing depend on it and
 * nodemailer's own list leaves the second out.
 */
const SIGNED_FIELDS =
  'From:Sender:Reply-To:Subject:Date:Message-ID:To:Cc:MIME-Version:Content-Type:Content-Transfer-Encoding:' +
  'In-Reply-To:References:List-Id:List-Unsubscribe:List-Unsubscribe-Post:Feedback-ID'

const port = parentPort!
const { domain, selector, privateKey: pem } = workerData as DkimKey
const key = readKey()
const dkim =
  typeof key === 'string'
    ? null
    : new DKIM({ domainName: domain, keySelector: selector, privateKey: key, headerFieldNames: SIGNED_FIELDS })

port.on('message', ({ id, bytes }: SignRequest) => {
  const tell = (answer: SignAnswer) => port.postMessage(answer)
  if (dkim === null) return tell({ id, refused: key as string })
  const message = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const chunks: Buffer[] = []
  dkim
    .sign(message)
    .on('data', (chunk: Buffer) => chunks.push(chunk))
    .on('error', (error: Error) => tell({ id, refused: error.message }))
    .on('end', () => {
      const signed = Buffer.concat(chunks)
      const headerLength = signed.length - message.length
      // What was signed must be what its owner is going to send.
      const isSame = headerLength > 0 && signed.subarray(headerLength).equals(message)
      tell(
        isSame
          ? { id, header: signed.toString('latin1', 0, headerLength) }
          : { id, refused: 'the message was not signed as it is' },
      )
    })
})

/** Read once: reading it costs as much as a fifth of a signature. In words, if it is not a key that can sign. */
function readKey(): KeyObject | string {
  try {
    const read = createPrivateKey(pem)
    return read.asymmetricKeyType === 'rsa' ? read : 'it is not an RSA key'
  } catch {
    // The reason could quote the key.
    return 'it is not a private key in PEM'
  }
}
