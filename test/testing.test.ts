import { describe, expect, it } from 'vitest'
import { createTestPostrider } from '../src/testing/index.js'
import { fileDatabase } from './support/services/file-database.js'

const DAY = 86_400_000

describe('postrider/testing', () => {
  it.each(['embedded', 'PostgreSQL'])('lets users test code that sends mail, on %s', async (kind) => {
    const place = kind === 'embedded' ? {} : { databaseUrl: await fileDatabase(), secret: 'a secret of the tests' }
    const test = await createTestPostrider(place)
    try {
      const { mail, clock } = test
      await clock.set(new Date('2027-01-01T08:00:00Z'))
      const now = await mail.emails.send({
        to: 'Ada <ada@example.com>',
        subject: 'Welcome',
        html: '<p>Hello</p>',
        attachments: [{ filename: 'a.txt', content: Buffer.from('inside'), contentType: 'text/plain' }],
      })
      await mail.emails.send({
        to: 'bob@example.com',
        subject: 'Tomorrow',
        text: 'Later.',
        scheduledAt: '2027-01-02T08:00:00Z',
      })
      expect(await test.drain()).toMatchObject({ done: 1 })
      expect(await test.inbox()).toMatchObject([
        {
          emailId: now.id,
          recipient: 'ada@example.com',
          from: 'hello@localhost',
          subject: 'Welcome',
          text: 'Hello\n',
          html: '<p>Hello</p>\n',
          headers: { date: 'Fri, 01 Jan 2027 08:00:00 +0000' },
          attachments: [{ filename: 'a.txt', contentType: 'text/plain', content: Buffer.from('inside') }],
        },
      ])
      await clock.advance(DAY)
      expect(await clock.now()).toEqual(new Date('2027-01-02T08:00:00Z'))
      await test.drain()
      expect((await test.inbox()).map(({ subject }) => subject)).toEqual(['Welcome', 'Tomorrow'])
    } finally {
      await test.close()
    }
  })

  it('goes out as whoever `mailFrom` names, written as one writes it; and says what is wrong with it otherwise', async () => {
    const test = await createTestPostrider({ mailFrom: 'Ada of <Tests> <ada@sender.test>' }).catch(
      (error: Error) => error,
    )
    expect(test).toMatchObject({
      code: 'setting_invalid',
      message: expect.stringContaining('mailFrom is "Ada of') as string,
    })
    const named = await createTestPostrider({ mailFrom: '"Doe, Jane" <jane@sender.test>' })
    try {
      await named.mail.emails.send({ to: 'bob@example.com', subject: 'Hello', text: 'Hello' })
      await named.drain()
      expect(await named.inbox()).toMatchObject([{ headers: { from: '"Doe, Jane" <jane@sender.test>' } }])
    } finally {
      await named.close()
    }
  })
})
