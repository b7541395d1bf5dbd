import type { Config } from '../config.js'

type Settings = Pick<Config, 'host' | 'port' | 'publicUrl'>

/** Where people reach this server: what PUBLIC_URL says, or else where it listens, of which a running server knows more. */
export function publicUrlOf({ host, port, publicUrl }: Settings, servingUrl?: string): string {
  if (publicUrl !== `http://${host}:${port}`) return publicUrl
  const anywhere = host === '0.0.0.0' || host === '::'
  return servingUrl ?? (anywhere ? `http://localhost:${port}` : publicUrl)
}
