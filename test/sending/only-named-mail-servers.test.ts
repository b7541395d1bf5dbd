import { describe, expect, it } from 'vitest'
import { createPostrider } from '../../src/index.js'
import { DEFAULT_WORKSPACE } from '../../src/id.js'
import { createSender } from '../../src/operations/senders.js'
import { DATABASE_KINDS } from '../support/test-database.js'
import { letter, openMail } from './mail-fixture.js'

describe.each(DATABASE_KINDS)('a process that may use named mail servers only, on %s', (kind) => {
  const fixture = openMail(kind, { smtpUrl: null })

  it('refuses a sender with another, and says which it may have', async () => {
    const { context } = await fixture.another({ mailServers: [`127.0.0.1:${fixture.server.port}`] })
    const make = (address: string, smtpUrl: string) => createSender(context, DEFAULT_WORKSPACE, { address, smtpUrl })
    await make('a@sender.test', `smtp://127.0.0.1:${fixture.server.port}`)
    for (const url of [`smtp://127.0.0.1:1`, `smtp://localhost:${fixture.server.port}`, 'smtps://mail.example.com'])
      await expect(make('b@sender.test', url)).rejects.toMatchObject({
        code: 'sender_invalid',
        message: `smtpUrl: No mail server may be used here but 127.0.0.1:${fixture.server.port}.`,
      })
  })

  it('connects to no other for a sender that was stored by somebody who may', async () => {
    const smtpUrl = `smtp://127.0.0.1:${fixture.server.port}`
    const { id } = await createSender(fixture.mail.context, DEFAULT_WORKSPACE, { address: 'c@sender.test', smtpUrl })
    const email = await fixture.mail.emails.send({ ...letter(), senderId: id })
    const bound = await fixture.another({ mailServers: ['127.0.0.1:1'] })
    await bound.tick()
    expect(fixture.server.connections).toBe(0)
    expect(await fixture.get(email.id)).toMatchObject({ status: 'retry_scheduled', attempts: [] })
    // And nothing of it was lost.
    await fixture.shiftClock(60_000)
    await fixture.drain()
    expect(await fixture.get(email.id)).toMatchObject({ status: 'sent' })
  })
})

it('does not even start with another in its settings', async () => {
  await expect(
    createPostrider({ smtpUrl: 'smtp://mail.example.com', mailServers: ['127.0.0.1:2525'], dataDirectory: '/nowhere' }),
  ).rejects.toMatchObject({ code: 'setting_invalid', message: expect.stringContaining('127.0.0.1:2525') })
})
