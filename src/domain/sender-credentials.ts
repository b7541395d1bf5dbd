/** What a sender's mail goes out with. Stored sealed, never shown. */
export interface SenderCredentials {
  readonly smtpUrl: string
  readonly dkim: DkimKey | null
}

export interface DkimKey {
  readonly domain: string
  readonly selector: string
  /** In PEM. */
  readonly privateKey: string
}
