import { type Serving, serve } from '../http/serve.js'
import { CommandError, UNAVAILABLE } from './command-error.js'

/** A port that is taken now may be free later: not a wrong setting, and scripts can tell the two apart. */
export async function listen(
  app: Parameters<typeof serve>[0],
  { host, port }: { readonly host: string; readonly port: number },
): Promise<Serving> {
  // What answers is loaded with the first request: before anybody can ask.
  await app.fetch(new Request('http://localhost/livez'))
  try {
    return await serve(app, { host, port })
  } catch (error) {
    const { message, cause } = error as Error
    if ((cause as NodeJS.ErrnoException | undefined)?.code !== 'EADDRINUSE') throw error
    throw new CommandError(UNAVAILABLE, message, { cause: error })
  }
}
