import type * as PostriderModule from '../../src/index.js'
import type { Postrider, PostriderOptions } from '../../src/index.js'
import { SENDER } from './email.js'

/** Where Postrider runs. All of it can be sent to another process. */
export interface Place {
  /** Where it was compiled to. */
  readonly postriderUrl: string
  /** Null for the embedded database. */
  readonly databaseUrl: string | null
  readonly dataDirectory: string
  /** Null for a process that sends nothing. */
  readonly smtp: { readonly port: number; readonly connections: number } | null
}

/** What a connection is served by while it waits for the database: the arm and the settling take longer than the wire. */
export const CONCURRENCY_PER_CONNECTION = 4
/** Per connection. The default of both, written down so that it stays the same for both. */
export const MESSAGES_PER_CONNECTION = 100

export async function openPostrider(
  { postriderUrl, databaseUrl, dataDirectory, smtp }: Place,
  options: PostriderOptions = {},
): Promise<Postrider> {
  const { createPostrider } = (await import(`${postriderUrl}index.js`)) as typeof PostriderModule
  return createPostrider({
    databaseUrl,
    dataDirectory,
    mailFrom: SENDER,
    ...(smtp && {
      smtpUrl: `smtp://127.0.0.1:${smtp.port}?starttls=off&pool=${smtp.connections}&messages=${MESSAGES_PER_CONNECTION}`,
      concurrency: smtp.connections * CONCURRENCY_PER_CONNECTION,
    }),
    ...options,
  })
}
