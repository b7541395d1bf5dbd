import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { startSink } from '../cli/sink/start-sink.js'
import { createPostrider } from '../compose.js'
import { type Serving, serve } from '../http/serve.js'
import type { Log } from '../log.js'
import type { Postrider } from '../postrider.js'
import { type Api, createApi } from './api.js'
import { launchCampaigns } from './campaigns.js'
import { playFirstMinute } from './first-minute.js'
import { makeHome } from './home.js'
import { live } from './life.js'
import { CONFIGURED, type MailServer, type Scene, setScene, smtpUrlOf } from './set-scene.js'
import { createTemper } from './temper.js'

/**
 * The whole demo: the product as users run it, a mail server that misbehaves, and a story told through the HTTP API.
 * Everything it has is in a directory of its own, and the only mail server it may use is its own.
 */
export interface DemoOptions {
  readonly host: string
  /** 0 for any free one. */
  readonly port: number
  /** How many times faster the days of its sequence pass. */
  readonly fast: number
  readonly log: Log
  /** The database has died under it. */
  readonly onCrash: () => void
  /** Something in the story did not go as it was written; the rest goes on. */
  readonly onTrouble: (error: unknown) => void
}

export interface Demo {
  readonly url: string
  readonly directory: string
  readonly password: string
  /** For the dashboard's user who may only look; works once. */
  readonly viewerLink: string
  readonly key: string
  readonly scene: Scene
  readonly mailServer: MailServer
  /** Ends it, and leaves nothing behind. */
  close(): Promise<void>
}

const USER = 'quince'

export async function startDemo({ host, port, log, onCrash, ...told }: DemoOptions): Promise<Demo> {
  const closers: (() => unknown)[] = []
  let closed: Promise<void> | undefined
  const close = () => (closed ??= closeAll(closers))
  try {
    // The door first: its address is part of every link in every mail, and a port that is taken is said at once.
    let product: Postrider | undefined
    const server = await openDoor(() => product, { host, port })
    closers.push(() => server.close())
    const home = makeHome()
    closers.push(home.remove)
    // Whatever ends this process, short of a kill.
    process.once('exit', home.remove)

    const pass = randomBytes(9).toString('base64url')
    const sink = await startSink({
      auth: { user: USER, pass },
      temper: createTemper(),
      logFile: join(home.directory, 'sink.log'),
      remember: false,
    })
    closers.push(() => sink.close())
    const mailServer = { host: sink.host, port: sink.port, user: USER, pass }

    const [password, apiKey] = [newPassword(), `story_${randomBytes(24).toString('base64url')}`]
    const postrider = await createPostrider({
      dataDirectory: home.directory,
      smtpUrl: smtpUrlOf(mailServer),
      mailServers: [`${sink.host}:${sink.port}`],
      mailFrom: CONFIGURED,
      publicUrl: server.url,
      adminPassword: password,
      apiKey,
      log,
      onCrash,
    })
    closers.push(() => postrider.stop())
    await postrider.start()
    product = postrider

    const as = (key: string) => createApi((request) => postrider.fetch(request), server.url, key)
    const { viewerLink, keys } = await letIn(as(apiKey))
    const { scene, end } = await tellStory(as(keys.shop), mailServer, told)
    closers.push(end)
    const { url } = server
    return { url, directory: home.directory, password, viewerLink, key: keys.demo, mailServer, scene, close }
  } catch (error) {
    await close()
    throw error
  }
}

/** Last opened, first closed; but the door before all, so that nobody is let in while the rest goes. */
async function closeAll(closers: (() => unknown)[]): Promise<void> {
  const [door, ...rest] = closers
  const shut = door?.()
  for (const each of rest.toReversed()) await each()
  await shut
}

const openDoor = (product: () => Postrider | undefined, place: { host: string; port: number }): Promise<Serving> =>
  serve(
    {
      fetch: (request, env) =>
        product()?.fetch(request, env) ??
        new Response('The demo is starting.\n', { status: 503, headers: { 'Retry-After': '2' } }),
    },
    place,
  )

/** To be typed once, on this machine. */
const newPassword = () =>
  randomBytes(6)
    .toString('hex')
    .replaceAll(/(....)(?=.)/g, '$1-')

/** Who may do what: the web shop, which the story is told by, whoever looks at the demo, and somebody who may only look. */
async function letIn(owner: Api) {
  const makeKey = async (name: string, scopes: readonly string[]) =>
    (await owner.post<{ key: string }>('/api/api-keys', { name, scopes })).key
  const keys = {
    shop: await makeKey('web shop', ['send', 'read', 'manage']),
    demo: await makeKey('demo', ['send', 'read', 'manage', 'admin']),
  }
  await makeKey('reports', ['read'])
  const viewer = { name: 'tomas', role: 'viewer' }
  const { setup_url: viewerLink } = await owner.post<{ setup_url: string }>('/api/admin/users', viewer)
  return { keys, viewerLink }
}

async function tellStory(
  shop: Api,
  mailServer: MailServer,
  { fast, onTrouble }: Pick<DemoOptions, 'fast' | 'onTrouble'>,
) {
  const scene = await setScene(shop, mailServer, fast)
  const campaigns = await launchCampaigns(shop, scene)
  const ending = new AbortController()
  const stage = { api: shop, scene, campaigns, signal: ending.signal }
  const tell = (error: unknown) => void (ending.signal.aborted || onTrouble(error))
  const going = Promise.all([playFirstMinute(stage).catch(tell), live(stage, tell)])
  return {
    scene,
    async end() {
      ending.abort()
      await going
    },
  }
}
