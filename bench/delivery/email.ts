import type { NewEmail } from '../../src/domain/new-email.js'

/**
 * The email everybody sends: text and html of about 1 KB each, as an application writes them. Plain ASCII, which is the
 * cheapest there is to compose; anything else would favour whoever encodes faster.
 */
export const SENDER = { name: 'Benchmark', address: 'bench@example.com' }

const PARAGRAPHS = [
  'Thank you for your order. We have received it and will let you know as soon as it has left the warehouse.',
  'You can look at the state of your order at any time in your account, and change the address until it is packed.',
  'If something is not as you expected, send it back within thirty days. The label is in the parcel, free of charge.',
  'Questions? Simply answer this email. Somebody reads it, usually within a working day, and writes back to you.',
  'This email was sent to you because you bought something from us. It is not marketing and needs no unsubscribing.',
]

const wrap = (text: string) => text.replaceAll(/(.{1,72})(?: |$)/g, '$1\n')

const TEXT = `Hello,\n\n${[...PARAGRAPHS, ...PARAGRAPHS.slice(0, 3)].map(wrap).join('\n')}\nYours, the shop\n`
const HTML = [
  '<!doctype html>',
  '<html><head><meta charset="utf-8"><title>Your order</title></head>',
  '<body style="margin:0;font-family:sans-serif;color:#222222">',
  '<table role="presentation" width="600" cellpadding="0" cellspacing="0"><tr><td style="padding:24px">',
  '<h1 style="font-size:20px">Thank you</h1>',
  ...PARAGRAPHS.map((text) => `<p style="margin:0 0 12px">${text}</p>`),
  '<p><a href="https://shop.example.com/orders">See your order</a></p>',
  '</td></tr></table>',
  '</body></html>',
  '',
].join('\n')

/** As `NewEmail`, and as nodemailer's `sendMail` takes it but for `from`. */
export const emailTo = (i: number) =>
  ({
    to: `reader${i}@example.com`,
    subject: `Your order ${100_000 + i} is on its way`,
    text: TEXT,
    html: HTML,
  }) satisfies NewEmail
