import createClient from 'openapi-fetch'
import { type Problem, ProblemError } from './problem'
import type { paths } from './schema'

/** Where the dashboard is mounted, whatever is in front of it: `/admin/`, `/mail/admin/`. */
export const BASE = new URL(document.baseURI).pathname
const ROOT = new URL('..', document.baseURI).pathname.replace(/\/$/, '')

/** The address of something of the API, for frames, downloads and the stream. */
export const apiUrl = (path: string): string => `${ROOT}${path}`

const client = createClient<paths>({
  baseUrl: `${location.origin}${ROOT}`,
  // Cookies do the rest; a page of somebody else's cannot send this header.
  headers: { 'X-Postrider-Dashboard': '1' },
  credentials: 'same-origin',
})

/** Called when the session is over, whoever ended it. */
let onSignedOut: () => void = () => undefined
export const whenSignedOut = (listener: () => void): void => void (onSignedOut = listener)

client.use({
  async onResponse({ response, schemaPath }) {
    if (response.ok) return
    if (response.status === 401 && !schemaPath.startsWith('/api/admin/log')) onSignedOut()
    throw await readProblem(response)
  },
  onError: () =>
    new ProblemError({
      status: 0,
      code: 'unreachable',
      title: 'Postrider does not answer',
      detail: 'The server cannot be reached. What is shown may be old; it is tried again.',
    }),
})

export const api = client

/** What a call answered: the middleware above has thrown for everything else. */
export async function ask<T>(call: Promise<{ data?: T }>): Promise<T> {
  return (await call).data as T
}

export async function readProblem(response: Response): Promise<ProblemError> {
  try {
    return new ProblemError((await response.json()) as Problem)
  } catch {
    return new ProblemError({
      status: response.status,
      code: 'unexpected_answer',
      title: `The server answered ${response.status}`,
      detail: 'This is not what Postrider answers. Perhaps something in front of it does.',
    })
  }
}
