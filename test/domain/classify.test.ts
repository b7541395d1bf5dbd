import { describe, expect, test } from 'vitest'

import { classifyFailure } from '../../src/domain/classify.js'
import { FAILURE_CLASSES, type FailureClass, type Phase, PHASES } from '../../src/domain/failure.js'
import { findRetryHintMs } from '../../src/domain/retry-hint.js'

/** As servers say it: code, enhanced code if there is one, words. */
function classify(phase: Phase, line: string): FailureClass {
  const [, code, enhancedCode] = /^(\d{3})[ -](\d\.\d{1,3}\.\d{1,3})?/.exec(line)!
  return classifyFailure({ phase, code: Number(code), enhancedCode: enhancedCode ?? null, reply: line.slice(4) })
    .failure
}

const REPLIES: readonly (readonly [FailureClass, Phase, string])[] = [
  // Slow down.
  ['throttled', 'greeting', '421 4.7.0 mail.example.com Error: too many connections from 192.0.2.1'],
  ['throttled', 'greeting', '421 Too many concurrent SMTP connections; please try again later.'],
  [
    'throttled',
    'greeting',
    '421 4.3.2 The maximum number of concurrent server connections has exceeded a limit, closing transmission channel',
  ],
  [
    'throttled',
    'greeting',
    '432 4.3.2 Concurrent connections limit exceeded. Visit https://aka.ms/concurrent_sending for more information.',
  ],
  [
    'throttled',
    'reply',
    '421 4.7.28 Our system has detected an unusual rate of unsolicited mail originating from your IP address.',
  ],
  ['throttled', 'reply', '421-4.7.0 Try again later, closing connection. Unusual rate limit exceeded'],
  [
    'throttled',
    'mail',
    '421 4.7.0 [TSS04] Messages from 192.0.2.1 temporarily deferred due to unexpected volume or user complaints',
  ],
  [
    'throttled',
    'mail',
    "421 RP-001 Unfortunately, some messages weren't sent. We have limits for how many messages can be sent per hour and per day.",
  ],
  ['throttled', 'rcpt', '450 4.7.1 Error: too much mail from 192.0.2.1'],
  [
    'throttled',
    'rcpt',
    '451 4.7.650 The mail server [192.0.2.1] has been temporarily rate limited due to IP reputation.',
  ],
  ['throttled', 'mail', '451 4.7.500 Server busy. Please try again later from [192.0.2.1].'],
  ['throttled', 'mail', '454 Throttling failure: Maximum sending rate exceeded.'],
  ['throttled', 'reply', '454 Throttling failure: Daily message quota exceeded.'],
  ['throttled', 'auth', '454 4.7.0 Too many login attempts, please try again later.'],
  ['throttled', 'reply', '452 4.4.5 Too many messages, slow down'],
  ['throttled', 'reply', '450 4.1.0 Message rate limit exceeded'],
  ['throttled', 'reply', '429 Too Many Requests'],
  [
    'throttled',
    'mail',
    '550 5.4.5 Daily user sending limit exceeded. For more information on Gmail sending limits go to https://support.google.com',
  ],
  [
    'throttled',
    'reply',
    "550 5.1.90 Your message can't be sent because you've reached your daily limit for message recipients",
  ],
  // Try again.
  [
    'transient',
    'rcpt',
    '450 4.2.0 <ann@example.com>: Recipient address rejected: Greylisted, see http://postgrey.schweikert.ch/help/example.com.html',
  ],
  ['transient', 'rcpt', '451 4.7.1 Greylisting in action, please come back in 00:14:59'],
  ['transient', 'rcpt', '451 Temporary local problem - please try later'],
  ['transient', 'rcpt', '451 4.3.0 <ann@example.com>: Temporary lookup failure'],
  ['transient', 'mail', '450 4.1.8 <bounce@example.com>: Sender address rejected: Domain not found'],
  [
    'transient',
    'rcpt',
    '450 4.2.1 The user you are trying to contact is receiving mail at a rate that prevents additional messages from being delivered.',
  ],
  ['transient', 'rcpt', '452 4.2.2 The email account that you tried to reach is over quota.'],
  ['transient', 'mail', '452 4.3.1 Insufficient system storage'],
  ['transient', 'mail', '421 4.3.2 Service not available, closing transmission channel'],
  ['transient', 'reply', '421 4.3.0 Temporary System Problem. Try again later.'],
  ['transient', 'reply', '451 4.3.0 Error: queue file write error'],
  ['transient', 'data', '421 4.4.2 mail.example.com Error: timeout exceeded'],
  ['transient', 'reply', '451 4.7.1 Service unavailable - try again later'],
  ['transient', 'reply', '421 4.7.0 mail.example.com Error: too many errors'],
  ['transient', 'auth', '454 4.7.0 Temporary authentication failure: Connection lost to authentication server'],
  ['transient', 'auth', '451 4.3.0 Authentication backend unavailable'],
  ['transient', 'auth', '432 4.7.12 A password transition is needed'],
  ['transient', 'tls', '454 4.7.0 TLS not available due to local problem'],
  ['transient', 'tls', '502 5.5.1 STARTTLS not implemented'],
  ['transient', 'greeting', '554 5.7.1 Service unavailable; Client host [192.0.2.1] blocked using zen.spamhaus.org'],
  ['transient', 'greeting', '554 No SMTP service here'],
  ['transient', 'greeting', '550 5.7.1 Access denied'],
  ['transient', 'reply', '499 Never heard of'],
  // Whose mailbox is not there.
  [
    'recipient',
    'rcpt',
    "550 5.1.1 The email account that you tried to reach does not exist. Please try double-checking the recipient's email address",
  ],
  [
    'recipient',
    'rcpt',
    '550 5.1.1 <ann@example.com>: Recipient address rejected: User unknown in local recipient table',
  ],
  ['recipient', 'rcpt', '550 5.1.10 RESOLVER.ADR.RecipientNotFound; Recipient not found by SMTP address lookup'],
  [
    'recipient',
    'rcpt',
    '550 5.4.1 Recipient address rejected: Access denied. [DB5EUR01FT003.eop-EUR01.prod.protection.outlook.com]',
  ],
  ['recipient', 'rcpt', '550 5.2.1 The email account that you tried to reach is disabled.'],
  ['recipient', 'rcpt', '550 5.1.2 Bad destination system address'],
  ['recipient', 'rcpt', '550 Requested action not taken: mailbox unavailable'],
  ['recipient', 'rcpt', '550 No such user here'],
  ['recipient', 'rcpt', '550 Unrouteable address'],
  ['recipient', 'rcpt', '551 User not local; please try <forward-path>'],
  ['recipient', 'rcpt', "553 sorry, that domain isn't in my list of allowed rcpthosts"],
  ['recipient', 'rcpt', '553 5.1.3 The recipient address is not a valid RFC 5321 address'],
  ['recipient', 'reply', '550 5.1.1 User unknown'],
  ['recipient', 'reply', "554 delivery error: dd This user doesn't have a yahoo.com account (ann@yahoo.com) [0]"],
  ['recipient', 'reply', '554 Message rejected: Address blacklisted.'],
  ['recipient', 'rcpt', '556 5.1.10 Recipient address has null MX'],
  // Who may not send.
  [
    'sender',
    'auth',
    '535 5.7.8 Username and Password not accepted. For more information, go to https://support.google.com/mail/?p=BadCredentials',
  ],
  ['sender', 'auth', '535 5.7.3 Authentication unsuccessful [AM0PR02CA0001.eurprd02.prod.outlook.com]'],
  ['sender', 'auth', '535 5.7.139 Authentication unsuccessful, SmtpClientAuthentication is disabled for the Tenant.'],
  ['sender', 'auth', '535 Authentication Credentials Invalid'],
  ['sender', 'auth', '535 Incorrect authentication data'],
  ['sender', 'auth', '534 5.7.9 Application-specific password required.'],
  ['sender', 'auth', '534 5.7.14 Please log in via your web browser and then try again.'],
  ['sender', 'auth', '538 5.7.11 Encryption required for requested authentication mechanism'],
  ['sender', 'auth', '504 5.5.4 Unrecognized authentication type'],
  ['sender', 'auth', '503 5.5.1 Error: authentication not enabled'],
  ['sender', 'mail', '530 5.7.0 Authentication Required.'],
  ['sender', 'mail', '530 5.7.0 Must issue a STARTTLS command first'],
  ['sender', 'mail', '530 5.7.57 Client not authenticated to send mail.'],
  ['sender', 'reply', '550 5.7.60 SMTP; Client does not have permissions to send as this sender'],
  ['sender', 'reply', '554 5.2.252 SendAsDenied; robot@example.com not allowed to send as ceo@example.com'],
  ['sender', 'mail', '553 5.7.1 <ceo@example.com>: Sender address rejected: not owned by user robot@example.com'],
  ['sender', 'rcpt', '553 5.7.1 <ceo@example.com>: Sender address rejected: not logged in'],
  ['sender', 'mail', '550 5.1.8 Access denied, bad outbound sender'],
  ['sender', 'mail', '550 5.1.0 Address rejected'],
  ['sender', 'mail', '553 Sender address syntax'],
  ['sender', 'rcpt', '554 5.7.1 <ann@example.com>: Relay access denied'],
  ['sender', 'rcpt', '550 relay not permitted, authentication required'],
  ['sender', 'rcpt', '550 5.7.54 SMTP; Unable to relay recipient in non-accepted domain'],
  ['sender', 'reply', '550 5.7.705 Access denied, tenant has exceeded threshold'],
  [
    'sender',
    'reply',
    '554 Message rejected: Email address is not verified. The following identities failed the check in region US-EAST-1: a@example.com',
  ],
  // What cannot be sent.
  ['message', 'reply', '550 5.7.1 Our system has detected that this message is likely unsolicited mail.'],
  [
    'message',
    'reply',
    '550 5.7.26 This mail has been blocked because the sender is unauthenticated. Gmail requires all senders to authenticate with either SPF or DKIM.',
  ],
  ['message', 'reply', '554 5.7.1 Message rejected under suspicion of SPAM'],
  ['message', 'rcpt', '550 5.7.1 Service unavailable, Client host [192.0.2.1] blocked using Spamhaus.'],
  ['message', 'rcpt', '550 5.7.509 Access denied, sending domain example.com does not pass DMARC verification'],
  ['message', 'rcpt', '550 SPF check failed'],
  ['message', 'rcpt', '550 Rejected because 192.0.2.1 is in a black list at b.barracudacentral.org'],
  ['message', 'rcpt', '552 5.2.2 The email account that you tried to reach is over quota and inactive.'],
  ['message', 'mail', '552 5.3.4 Message size exceeds fixed limit'],
  ['message', 'reply', '552 5.3.4 Message too big for system'],
  ['message', 'reply', '552-5.7.0 This message was blocked because its content presents a potential security issue.'],
  ['message', 'reply', '554 5.6.0 Message content rejected'],
  ['message', 'reply', '550 5.6.0 Corrupt message content'],
  ['message', 'reply', "554 Transaction failed: Duplicate header 'Subject'."],
  ['message', 'data', '554 5.5.1 Error: no valid recipients'],
  ['message', 'data', '503 5.5.1 Bad sequence of commands'],
  ['message', 'mail', '501 5.5.4 Syntax error in parameters or arguments'],
  ['message', 'reply', '554 Transaction failed'],
  ['message', 'reply', '599 Never heard of'],
]

describe('a reply', () => {
  test.each(REPLIES)('%s at %s: %s', (failure, phase, line) => {
    expect(classify(phase, line)).toBe(failure)
  })

  test('after the dot, is never undecidable', () => {
    for (let code = 400; code < 600; code++) {
      for (const phase of ['body', 'reply'] as const) {
        const { failure } = classifyFailure({ phase, code, enhancedCode: null, reply: 'anything' })
        expect(failure).not.toBe('undecidable')
        expect(failure === 'transient' || failure === 'throttled').toBe(code < 500)
      }
    }
  })

  test('whose two codes disagree, is what its first says', () => {
    expect(classifyFailure({ phase: 'rcpt', code: 450, enhancedCode: '5.1.1', reply: 'x' }).failure).toBe('transient')
    expect(classifyFailure({ phase: 'reply', code: 554, enhancedCode: '4.7.28', reply: 'x' }).failure).toBe('message')
  })
})

describe('no reply', () => {
  test.each(PHASES)('at %s', (phase) => {
    const expected = phase === 'body' || phase === 'reply' ? 'undecidable' : 'transient'
    for (const code of [null, 0, 199, 250, 354, 600, 999]) {
      expect(classifyFailure({ phase, code, enhancedCode: null, reply: 'try again in 5 minutes' })).toMatchObject({
        failure: expected,
      })
    }
  })
})

test('every class is reached', () => {
  const reached = new Set<string>(REPLIES.map(([failure]) => failure))
  reached.add('undecidable')
  expect([...reached].toSorted()).toEqual([...FAILURE_CLASSES].toSorted())
})

describe('how long to wait', () => {
  test.each([
    ['4.7.1 Please try again in 5 minutes', 300_000],
    ['retry after 120 seconds', 120_000],
    ['Greylisted, please try again in 300 seconds', 300_000],
    ['You have been greylisted for 60s', 60_000],
    ['Too many messages, wait at least 2 min', 120_000],
    ['try again after 1 hour', 3_600_000],
    ['Try again in an hour.', 3_600_000],
    ['Retry-After: 30', 30_000],
    ['retry after 90', 90_000],
    ['please come back in 00:14:59', 899_000],
    ['please try again later', null],
    ['4.7.28 rate limit exceeded, see 5 minutes of reading', null],
    ['try again in 400 hours', null],
    ['try again in 0 seconds', null],
    ['message 1234567 deferred', null],
  ])('%s', (reply, ms) => {
    expect(findRetryHintMs(reply)).toBe(ms)
  })

  test('is told with what is tried again, and with nothing else', () => {
    const reply = 'try again in 5 minutes'
    expect(classifyFailure({ phase: 'rcpt', code: 450, enhancedCode: null, reply })).toEqual({
      failure: 'transient',
      retryAfterMs: 300_000,
    })
    expect(classifyFailure({ phase: 'reply', code: 554, enhancedCode: null, reply })).toEqual({ failure: 'message' })
  })

  test('is read in no time from what a hostile server says', () => {
    const startedAt = performance.now()
    for (const piece of ['retry ', 'try again in ', 'limits a ', 'too many ', 'user ', 'a']) {
      const reply = piece.repeat(16_384 / piece.length)
      for (const code of [451, 550]) classifyFailure({ phase: 'rcpt', code, enhancedCode: null, reply })
    }
    expect(performance.now() - startedAt).toBeLessThan(500)
  })
})
