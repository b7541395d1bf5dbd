import { describe, expect, test } from 'vitest'

import { parseSmtpUrl } from '../../src/providers/parse-smtp-url.js'

describe('an SMTP URL', () => {
  test('in full', () => {
    expect(
      parseSmtpUrl(
        'smtp://robot%40example.com:p%40ss%3Aw%2Frd%25@mail.example.com:2525?pool=20&messages=7&name=me.example.com',
      ),
    ).toEqual({
      host: 'mail.example.com',
      port: 2525,
      implicitTls: false,
      starttls: 'required',
      auth: { kind: 'password', user: 'robot@example.com', password: 'p@ss:w/rd%' },
      tlsServerName: null,
      tlsCa: null,
      verifyCertificate: true,
      maxConnections: 20,
      maxMessagesPerConnection: 7,
      helloName: 'me.example.com',
      dkim: null,
    })
  })

  test.each([
    ['smtp://mail.example.com', { port: 587, implicitTls: false, starttls: 'opportunistic', auth: { kind: 'none' } }],
    ['smtps://mail.example.com', { port: 465, implicitTls: true, starttls: 'off' }],
    ['smtps://mail.example.com:2465', { port: 2465, implicitTls: true }],
    ['smtp://localhost:1025', { host: 'localhost', port: 1025, starttls: 'opportunistic', auth: { kind: 'none' } }],
    ['smtp://u:p@localhost:1025', { starttls: 'opportunistic' }],
    ['smtp://u:p@127.0.0.1', { starttls: 'opportunistic' }],
    ['smtp://u:p@mail.example.com', { starttls: 'required' }],
    ['smtp://u:p@mail.example.com?starttls=off', { starttls: 'off' }],
    ['smtp://mail.example.com?starttls=required', { starttls: 'required' }],
    ['smtp://mail.example.com?verify=no', { verifyCertificate: false }],
    ['smtp://[::1]:25', { host: '::1', port: 25 }],
    ['smtp://u:tok@mail.example.com?auth=xoauth2', { auth: { kind: 'xoauth2', user: 'u', accessToken: 'tok' } }],
    ['SMTP://mail.example.com/', { host: 'mail.example.com' }],
  ])('%s', (url, expected) => {
    expect(parseSmtpUrl(url)).toMatchObject(expected)
  })

  const SECRET = 'hunter2secret'
  test.each([
    ['mail.example.com', /begins with smtp/],
    ['http://mail.example.com', /begins with smtp/],
    ['smtp://', /names no host|cannot be read/],
    [`smtp://u:${SECRET}@`, /names no host|cannot be read/],
    [`smtp://u:${SECRET}@host:99999`, /cannot be read/],
    [`smtp://u:${SECRET}@host:0`, /port 0/],
    [`smtp://u:a/${SECRET}@host`, /cannot be read|has a path/],
    [`smtp://u:12/${SECRET}@host`, /has a path/],
    [`smtp://u:12#${SECRET}@host`, /%23/],
    [`smtp://u:12?${SECRET}@host`, /not one of/],
    [`smtp://u:%zz${SECRET}@host`, /%25/],
    [`smtp://u:%00${SECRET}@host`, /zero byte/],
    [`smtp://:${SECRET}@host`, /no user/],
    ['smtp://u@host', /no password/],
    ['smtp://host?auth=xoauth2', /asks for auth/],
    [`smtp://u:${SECRET}@host?auth=magic`, /auth in the SMTP URL is one of password, xoauth2/],
    [`smtp://u:${SECRET}@host?pool=0`, /whole number/],
    [`smtp://u:${SECRET}@host?messages=many`, /whole number/],
    [`smtp://u:${SECRET}@host?verify=maybe`, /one of yes, no/],
    [`smtp://u:${SECRET}@host?starttls=perhaps`, /one of opportunistic, required, off/],
    [`smtps://u:${SECRET}@host?starttls=required`, /TLS from the first byte/],
    [`smtp://u:${SECRET}@host?name=a%0d%0aMAIL`, /host name/],
    [`smtp://u:${SECRET}@host?pol=3`, /not one of/],
  ])('%s is refused in a sentence, without the password', (url, words) => {
    let message = ''
    try {
      parseSmtpUrl(url)
    } catch (error) {
      message = JSON.stringify([(error as Error).message, (error as Error).stack, (error as Error).cause])
    }
    expect(message).toMatch(words)
    expect(message).not.toContain(SECRET)
  })
})
