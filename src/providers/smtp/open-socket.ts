import { connect, isIP, type Socket } from 'node:net'
import { checkServerIdentity, type ConnectionOptions, connect as connectTls, createSecureContext } from 'node:tls'
import { rootCertificates } from 'node:tls'

import type { Phase } from '../../domain/failure.js'
import type { SmtpSettings } from '../smtp-settings.js'

/**
 * What every TLS handshake with this server is given. One context for all of them: building it reads every trusted
 * certificate, which costs milliseconds.
 */
export function createTlsOptions(settings: SmtpSettings): ConnectionOptions {
  const name = settings.tlsServerName ?? settings.host
  return {
    secureContext: createSecureContext(settings.tlsCa ? { ca: [...rootCertificates, settings.tlsCa] } : {}),
    rejectUnauthorized: settings.verifyCertificate,
    // SNI knows host names only. Said here, and not left to Node, because Node checks the name it sends.
    ...(isIP(name) === 0 && { servername: name }),
    checkServerIdentity: (_host, certificate) => checkServerIdentity(name, certificate),
  }
}

/**
 * Opens the connection: TCP, then TLS if it is implicit. The caller destroys the socket when its patience ends.
 *
 * Not left to nodemailer, which asks DNS servers itself and so does not know the names in /etc/hosts, and which cannot
 * tell a refused connection from a refused certificate.
 */
export function openSocket(
  settings: SmtpSettings,
  tlsOptions: ConnectionOptions,
  onPhase: (phase: Phase) => void,
  onDone: (error: Error | null) => void,
): Socket {
  const { host, port, implicitTls } = settings
  const target = { host, port, autoSelectFamily: true }
  const socket = implicitTls ? connectTls({ ...target, ...tlsOptions }) : connect(target)
  const done = (error: Error | null) => {
    socket.off('error', done)
    socket.off('close', onClose)
    onDone(error)
  }
  const onClose = () => done(new Error('the server closed the connection'))
  socket.once('error', done)
  socket.once('close', onClose)
  if (implicitTls) {
    socket.once('connect', () => onPhase('tls'))
    socket.once('secureConnect', () => done(null))
  } else {
    socket.once('connect', () => done(null))
  }
  return socket
}
