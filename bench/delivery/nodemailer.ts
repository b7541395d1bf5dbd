import { createTransport } from 'nodemailer'
import type { Contender } from './deliver-role.js'
import { emailTo, SENDER } from './email.js'
import { CONCURRENCY_PER_CONNECTION, MESSAGES_PER_CONNECTION, type Place } from './open-postrider.js'

export const poolOf = ({ port, connections }: NonNullable<Place['smtp']>) => ({
  pool: true as const,
  host: '127.0.0.1',
  port,
  ignoreTLS: true,
  maxConnections: connections,
  maxMessages: MESSAGES_PER_CONNECTION,
})

/**
 * Bare, as most applications use it: a pool, and `sendMail`. Nothing is written down anywhere, so a crash forgets what
 * was not sent and a broken connection may send twice.
 */
export function openNodemailer(smtp: NonNullable<Place['smtp']>): Contender {
  const transport = createTransport(poolOf(smtp))
  let accepted = 0

  return {
    accept: null,
    async deliver(emails) {
      let next = 0
      // More than there are connections, so that none waits for work; all at once would only fill the memory.
      const caller = async () => {
        while (next < emails) {
          const sent = await transport.sendMail({ from: SENDER, ...emailTo(next++) })
          accepted += sent.accepted.length
        }
      }
      await Promise.all(Array.from({ length: smtp.connections * CONCURRENCY_PER_CONNECTION }, caller))
    },
    verify: async (emails) => {
      if (accepted !== emails) throw new Error(`${emails} emails were to be sent, but ${accepted} were accepted.`)
    },
    close: async () => transport.close(),
  }
}
