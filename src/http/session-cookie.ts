import { SESSION_LIFE_MS } from '../operations/dashboard-sessions.js'

export const SESSION_COOKIE = 'postrider_session'

/** The token somebody at the dashboard sent, if any. */
export function readSessionCookie(header: string | undefined): string | null {
  for (const pair of header?.split(';') ?? []) {
    const [name, value] = pair.split('=', 2)
    if (name?.trim() === SESSION_COOKIE && value !== undefined) return value.trim()
  }
  return null
}

/**
 * No script can read it, no other site can make a browser send it. Over the whole host: the dashboard may be served under
 * any prefix. When it ends is for the database to say; the browser only forgets it by then.
 */
const write = (value: string, maxAgeSeconds: number, publicUrl: string) =>
  [
    `${SESSION_COOKIE}=${value}`,
    'Path=/',
    `Max-Age=${maxAgeSeconds}`,
    'HttpOnly',
    'SameSite=Strict',
    ...(publicUrl.startsWith('https:') ? ['Secure'] : []),
  ].join('; ')

export const writeSessionCookie = (token: string, publicUrl: string): string =>
  write(token, SESSION_LIFE_MS / 1_000, publicUrl)

export const clearSessionCookie = (publicUrl: string): string => write('', 0, publicUrl)
