import { generateKeyPairSync } from 'node:crypto'
import fc from 'fast-check'
import PostalMime from 'postal-mime'
import { afterAll, describe, expect, it } from 'vitest'
import type { Message } from '../../src/domain/message.js'
import { createLinkSigner, type Link } from '../../src/link-signer.js'
import { composeMessage } from '../../src/mime/compose-message.js'
import { createDkimSigner } from '../../src/providers/smtp/dkim-signer.js'
import { createSecretBox } from '../../src/secret-box.js'
import {
  type CampaignContent,
  type CampaignRecipient,
  createCampaignRenderer,
} from '../../src/templates/render-campaign-email.js'
import { elementsOf } from './html-elements.js'

const sign = createLinkSigner(() => 'a secret of the tests')
const renderer = createCampaignRenderer({ publicUrl: 'https://mail.example.com/base/', sign })
const id = (n: number) => `0199a8b2-0000-7000-8000-${String(n).padStart(12, '0')}`
const EMAIL = { id: id(9), date: new Date('2026-11-16T09:00:00Z') }

let versions = 0
const content = (change: Partial<CampaignContent> = {}): CampaignContent => ({
  workspaceId: id(1),
  campaignId: id(2),
  campaignName: 'Autumn',
  list: { id: id(3), name: 'News' },
  from: { name: 'Ada', address: 'ada@example.com' },
  replyTo: [],
  templateId: id(4),
  templateVersion: ++versions,
  subject: 'Hi {{ contact.name }}',
  html: '<html><body><p>Hi {{ contact.name }}</p></body></html>',
  text: null,
  ...change,
})
const recipient = (change: Partial<CampaignRecipient> = {}): CampaignRecipient => ({
  contactId: id(5),
  address: 'grace@example.org',
  name: 'Grace',
  attributes: {},
  timezone: null,
  ...change,
})

function render(change: Partial<CampaignContent> = {}, to: Partial<CampaignRecipient> = {}): Message {
  const rendered = renderer.render(content(change), recipient(to), EMAIL)
  if (!rendered.ok) throw new Error(rendered.problem)
  return rendered.message
}
const parse = async (message: Message) => PostalMime.parse(await composeMessage(message))
const urlOf = (message: Message) => message.headers['List-Unsubscribe']!.slice(1, -1)

describe('the email of a campaign', () => {
  it('is what another parser reads', async () => {
    const message = render({
      list: { id: id(3), name: 'Grüße, "News" & more' },
      replyTo: [{ name: null, address: 'r@x.y' }],
    })
    const mail = await parse(message)
    expect(mail).toMatchObject({
      subject: 'Hi Grace',
      messageId: `<${EMAIL.id}@example.com>`,
      to: [{ name: 'Grace', address: 'grace@example.org' }],
      from: { name: 'Ada', address: 'ada@example.com' },
      replyTo: [{ address: 'r@x.y' }],
    })
    const header = (name: string) => mail.headers.filter(({ key }) => key === name).map(({ value }) => value)
    expect(header('list-unsubscribe')).toEqual([`<${urlOf(message)}>`])
    expect(header('list-unsubscribe-post')).toEqual(['List-Unsubscribe=One-Click'])
    expect(header('feedback-id')).toEqual([
      '0199a8b2000070008000000000000002:0199a8b2000070008000000000000003:0199a8b2000070008000000000000001:postrider',
    ])
    expect(header('list-id')[0]).toMatch(/<0199a8b2000070008000000000000003\.example\.com>$/)
    expect(urlOf(message)).toMatch(/^https:\/\/mail\.example\.com\/base\/u\/[\w-]+$/)
    expect(sign.read(urlOf(message).split('/').at(-1)!)).toEqual({
      listId: id(3),
      contactId: id(5),
      campaignId: id(2),
      address: 'grace@example.org',
    })
  })

  it('is the same every time', async () => {
    const campaign = content()
    const bytes = async () => {
      const rendered = renderer.render(campaign, recipient(), EMAIL)
      return rendered.ok ? (await composeMessage(rendered.message)).toString() : rendered.problem
    }
    expect(await bytes()).toBe(await bytes())
  })

  it('keeps the longest link whole', async () => {
    const address = `${'a'.repeat(64)}@${'b'.repeat(60)}.${'c'.repeat(60)}.${'d'.repeat(60)}.com`
    const message = render({}, { address })
    const { headers } = await parse(message)
    expect(headers.find(({ key }) => key === 'list-unsubscribe')!.value).toBe(`<${urlOf(message)}>`)
    expect(sign.read(urlOf(message).split('/').at(-1)!)!.address).toBe(address)
  })

  it('has a visible way out in every part, once', async () => {
    const links = (message: Message) =>
      elementsOf(message.html!).filter(({ attribs }) => attribs['href'] === urlOf(message)).length
    const own = render({ html: '<p>x <a href="{{ unsubscribe_url }}">Leave</a></p>' })
    expect([links(own), own.text!.split(urlOf(own)).length - 1]).toEqual([1, 1])
    const none = render({ text: 'Hi' })
    expect([links(none), none.text!.split(urlOf(none)).length - 1]).toEqual([1, 1])
    expect(none.html).toMatch(/Unsubscribe<\/a><\/p><\/body><\/html>$/)
    // A link in a branch that was not taken is none.
    const hidden = render({
      html: '{% if contact.x %}<a href="{{ unsubscribe_url }}">Leave</a>{% endif %}',
      text: '{{ unsubscribe_url }}',
    })
    expect([links(hidden), hidden.text]).toEqual([1, urlOf(hidden)])
    const text = render({ html: null, text: 'Hi' })
    expect([text.html, text.text]).toEqual([null, `Hi\n\n-- \nUnsubscribe: ${urlOf(text)}\n`])
    expect(render({ list: { id: id(3), name: '<script>' } }).html).toContain('“&lt;script&gt;”')
  })

  it('says what is missing instead of sending it', () => {
    const rendered = renderer.render(
      content({ text: '{{ contact.first_name }} {{ contact.plan }}' }),
      recipient({ attributes: { plan: null } }),
      EMAIL,
    )
    expect(rendered).toEqual({ ok: false, problem: 'There is no value for contact.first_name, contact.plan.' })
    expect(renderer.render(content({ text: '{% nonsense %}' }), recipient(), EMAIL)).toMatchObject({ ok: false })
  })

  it('knows the contact, the list, the campaign and the sender', () => {
    const text =
      '{{ contact.email }}|{{ contact.name }}|{{ contact.timezone }}|{{ contact.city }}|{{ list.name }}|{{ campaign.name }}|{{ sender.name }}|{{ sender.email }}|{{ unsubscribe_url }}'
    const message = render(
      { text },
      { timezone: 'Europe/Paris', attributes: { city: 'Paris', email: 'other@x.y', name: 'Other' } },
    )
    expect(message.text).toBe(
      `grace@example.org|Grace|Europe/Paris|Paris|News|Autumn|Ada|ada@example.com|${urlOf(message)}`,
    )
  })

  it('has no header that data made', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: 'binary', maxLength: 60 }),
        fc.string({ unit: 'binary', maxLength: 60 }),
        async (name, listName) => {
          const { headers } = await parse(render({ list: { id: id(3), name: listName } }, { name }))
          expect(new Set(headers.map(({ key }) => key))).toEqual(HEADERS)
        },
      ),
      {
        numRuns: 50,
        examples: [
          ['a\r\nBcc: x@y.z', 'b\r\n\r\nbody'],
          ['a\u2028b', '>\r\nX: y <'],
        ],
      },
    )
  })
})

const HEADERS = new Set(
  'from to subject date message-id list-unsubscribe list-unsubscribe-post list-id feedback-id mime-version content-type'.split(
    ' ',
  ),
)

describe('both unsubscribe headers', () => {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 1024 })
  const signer = createDkimSigner({
    domain: 'example.com',
    selector: 's',
    privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
  })
  afterAll(() => signer.close())

  it('are under the DKIM signature, as RFC 8058 asks', async () => {
    const signed = await signer.sign(Buffer.from(await composeMessage(render())))
    const { headers } = await PostalMime.parse(signed)
    const fields = /[; ]h=([^;]+)/.exec(headers.find(({ key }) => key === 'dkim-signature')!.value)![1]!
    const names = fields.replaceAll(/\s/g, '').toLowerCase().split(':')
    expect(names).toEqual(
      expect.arrayContaining(['list-unsubscribe', 'list-unsubscribe-post', 'list-id', 'feedback-id']),
    )
  })
})

describe('a link', () => {
  const link = fc.record<Link>({
    listId: fc.uuid(),
    contactId: fc.uuid(),
    campaignId: fc.option(fc.uuid().filter((uuid) => !/^[0-]+$/.test(uuid))),
    address: fc.string({ minLength: 1, maxLength: 100 }).map((local) => `${local}@example.com`),
  })

  it('is read as it was signed, and shows nobody the address', () => {
    fc.assert(
      fc.property(link, (given) => {
        const token = sign.sign(given)
        expect(sign.read(token)).toEqual(given)
        expect(Buffer.from(token, 'base64url').includes('example.com')).toBe(false)
      }),
    )
  })

  it('is nothing when it was changed anywhere, cut off, or signed with another secret', () => {
    const token = sign.sign({ listId: id(3), contactId: id(5), campaignId: null, address: 'grace@example.org' })
    const bytes = Buffer.from(token, 'base64url')
    for (let i = 0; i < bytes.length; i++) {
      const forged = Buffer.from(bytes)
      forged[i]! ^= 1
      expect(sign.read(forged.toString('base64url'))).toBeNull()
      expect(sign.read(bytes.subarray(0, i).toString('base64url'))).toBeNull()
    }
    expect(createLinkSigner(() => 'another secret').read(token)).toBeNull()
    for (const other of [
      '',
      'x',
      `${token}A`,
      `${token}=`,
      `${token}%00`,
      'A'.repeat(10_000),
      createSecretBox('a secret of the tests').sign(token),
    ])
      expect(sign.read(other)).toBeNull()
  })
})
