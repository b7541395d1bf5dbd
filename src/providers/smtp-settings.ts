/** How a sender's SMTP server is reached. Comes from SMTP_URL or from a sender's stored credentials. */
export interface SmtpSettings {
  readonly host: string
  readonly port: number
  /** TLS from the first byte (smtps). */
  readonly implicitTls: boolean
  /** `starttls`: use it when offered; `required`: refuse to go on without it; `off`: never ask for it. */
  readonly starttls: 'opportunistic' | 'required' | 'off'
  readonly auth:
    | { readonly kind: 'none' }
    | { readonly kind: 'password'; readonly user: string; readonly password: string }
    | { readonly kind: 'xoauth2'; readonly user: string; readonly accessToken: string }
  /** The name checked in the certificate; the host unless given. */
  readonly tlsServerName: string | null
  /** PEM of an authority to trust beside the usual ones. */
  readonly tlsCa: string | null
  /** False accepts any certificate: for a server on one's own machine. */
  readonly verifyCertificate: boolean
  readonly maxConnections: number
  /** A connection is ended after this many messages. */
  readonly maxMessagesPerConnection: number
  /** What we call ourselves in EHLO. */
  readonly helloName: string | null
  readonly dkim: { readonly domain: string; readonly selector: string; readonly privateKey: string } | null
}
