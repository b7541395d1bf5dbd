/** The HTTP API as the demo speaks it: as a web shop would. It knows nothing of Postrider but this. */
export interface Api {
  get<T>(path: string): Promise<T>
  post<T>(path: string, body?: unknown): Promise<T>
  patch<T>(path: string, body: unknown): Promise<T>
  remove(path: string): Promise<void>
  /** A body that is no JSON: a file, a form. */
  send<T>(path: string, body: string, contentType: string): Promise<T>
}

export interface Listed<T> {
  readonly has_more: boolean
  readonly data: readonly T[]
}

export interface Identified {
  readonly id: string
}

/** The API said no, in its own words. */
export class ApiRefusal extends Error {
  override readonly name = 'ApiRefusal'
  readonly status: number

  constructor(asked: string, status: number, said: string) {
    super(`${asked} was answered with ${status}: ${said}`)
    this.status = status
  }
}

type Fetch = (request: Request) => Response | Promise<Response>

export function createApi(fetch: Fetch, url: string, key: string): Api {
  const ask = async <T>(method: string, path: string, body?: string, contentType = 'application/json'): Promise<T> => {
    const headers = { Authorization: `Bearer ${key}`, ...(body !== undefined && { 'Content-Type': contentType }) }
    const answer = await fetch(new Request(`${url}${path}`, { method, headers, ...(body !== undefined && { body }) }))
    const text = await answer.text()
    if (!answer.ok) throw new ApiRefusal(`${method} ${path}`, answer.status, text)
    return (answer.headers.get('content-type')?.includes('json') ? JSON.parse(text) : text) as T
  }
  return {
    get: (path) => ask('GET', path),
    post: (path, body) => ask('POST', path, body === undefined ? undefined : JSON.stringify(body)),
    patch: (path, body) => ask('PATCH', path, JSON.stringify(body)),
    remove: (path) => ask('DELETE', path),
    send: (path, body, contentType) => ask('POST', path, body, contentType),
  }
}
