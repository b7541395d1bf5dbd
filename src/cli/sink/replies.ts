import type { Phase } from './chaos.js'

/** Everything the sink says by itself. Enhanced codes as RFC 3463 and RFC 4954 have them. */
export const REPLIES = {
  greeting: '220 sink.localhost ESMTP Postrider sink: a test server, nothing is delivered\r\n',
  tooManyConnections: '421 4.7.0 Too many connections, try again later\r\n',
  shuttingDown: '421 4.3.2 The sink is shutting down\r\n',
  bye: '221 2.0.0 Bye\r\n',
  hello: '250 sink.localhost\r\n',
  ok: '250 2.0.0 OK\r\n',
  mailOk: '250 2.1.0 OK\r\n',
  rcptOk: '250 2.1.5 OK\r\n',
  vrfy: '252 2.5.0 Cannot verify, but will take a message and try\r\n',
  help: '214 2.0.0 EHLO HELO STARTTLS AUTH MAIL RCPT DATA RSET NOOP VRFY HELP QUIT\r\n',
  startTls: '220 2.0.0 Ready to start TLS\r\n',
  authOk: '235 2.7.0 Authenticated\r\n',
  authWrong: '535 5.7.8 Authentication credentials invalid\r\n',
  authCanceled: '501 5.7.0 Authentication canceled\r\n',
  authMalformed: '501 5.5.2 That is not base64 of what the mechanism asks for\r\n',
  authUnknown: '504 5.5.4 Unknown authentication mechanism\r\n',
  authAlready: '503 5.5.1 Already authenticated\r\n',
  authFirst: '530 5.7.0 Authentication required\r\n',
  data: '354 End data with <CR><LF>.<CR><LF>\r\n',
  unknown: '500 5.5.1 Command not recognized\r\n',
  lineTooLong: '500 5.5.2 Line too long\r\n',
  bareLf: '500 5.5.2 A line ends in CR LF; this one has a bare LF\r\n',
  badArgument: '501 5.5.4 Syntax error in parameters\r\n',
  badSequence: '503 5.5.1 Bad sequence of commands\r\n',
  noRecipients: '554 5.5.1 No valid recipients\r\n',
  tooManyRecipients: '452 4.5.3 Too many recipients\r\n',
  tooLarge: '552 5.3.4 Message too large\r\n',
  notLogged: '452 4.3.1 The message could not be written down, so it is not taken\r\n',
} as const

const FAILURES: Record<number, string> = {
  421: '4.3.2 Service not available, closing the connection',
  432: '4.7.12 A password transition is needed',
  450: '4.2.1 Mailbox busy, try again later',
  451: '4.3.0 Local error in processing, try again later',
  452: '4.3.1 Insufficient system storage',
  454: '4.7.0 Temporary failure, try again later',
  500: '5.5.2 Syntax error, command unrecognized',
  501: '5.5.4 Syntax error in parameters',
  502: '5.5.1 Command not implemented',
  503: '5.5.1 Bad sequence of commands',
  504: '5.5.4 Parameter not implemented',
  521: '5.3.2 This host accepts no mail',
  530: '5.7.0 Authentication required',
  534: '5.7.9 The authentication mechanism is too weak',
  535: '5.7.8 Authentication credentials invalid',
  550: '5.7.1 Rejected by policy',
  551: '5.1.6 User not local',
  552: '5.3.4 Message too large',
  553: '5.1.3 Mailbox name not allowed',
  554: '5.6.0 Transaction failed',
}

/** The same code means another thing about a recipient than about a message: 550 to RCPT is an unknown user. */
const FAILURES_OF_RECIPIENT: Record<number, string> = {
  550: '5.1.1 No such user here',
  552: '5.2.2 Mailbox full',
  554: '5.7.1 Recipient refused',
}

/** What a server that fails with this code at this moment would say, unless it has words of its own. */
export function failureReply(code: number, phase: Phase, own?: string): string {
  const text = own ?? (phase === 'rcpt' ? FAILURES_OF_RECIPIENT[code] : undefined) ?? FAILURES[code]
  return `${code} ${text ?? `${Math.floor(code / 100)}.0.0 Failing as asked`}\r\n`
}

/** The answer to EHLO. */
export const helloReply = (offers: readonly string[]): string =>
  `250-sink.localhost\r\n${offers.map((offer) => `250-${offer}\r\n`).join('')}250 HELP\r\n`

/** Ends in a line break, so that a client which waits for a whole line gets one, and no reply in it. Latin-1. */
export const GARBAGE = '\u0000\u00fe\u00ff{]\u0007 this is no SMTP reply \u00a4\u0001\r\n'
