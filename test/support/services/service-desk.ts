import { createServer, get } from 'node:http'
import type { AddressInfo } from 'node:net'
import { acquireService, type AcquiredService, type ServiceKind } from './acquire-service.js'

/** Where test files ask for the servers that not every run needs. */
export interface ServiceDesk {
  url: string
  close(): Promise<void>
}

/**
 * Test files run in processes of their own, and two of them may want RabbitMQ, which takes ten seconds to start, at the
 * same moment. So neither starts it: both ask the one process that outlives them all, which acquires each kind once,
 * when first asked, and releases it when the run is over. `GET /<kind>` answers with the URL, or with 503 and the reason.
 */
export async function openServiceDesk(kinds: Record<string, ServiceKind>): Promise<ServiceDesk> {
  const acquired = new Map<string, Promise<AcquiredService>>()
  const acquireOnce = (name: string, kind: ServiceKind) => {
    const service = acquired.get(name) ?? acquireService(kind)
    acquired.set(name, service)
    return service
  }
  const server = createServer((request, response) => {
    const name = request.url?.slice(1) ?? ''
    const kind = kinds[name]
    if (!kind) {
      response.writeHead(404).end(`There is no service ${name}.`)
      return
    }
    acquireOnce(name, kind).then(
      ({ url }) => response.end(url),
      (error: unknown) => response.writeHead(503).end(error instanceof Error ? error.message : String(error)),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections()
      server.close()
      for (const service of acquired.values()) {
        // One that could not be acquired was reported to whoever asked.
        const held = await service.catch(() => null)
        await held?.release()
      }
    },
  }
}

/** The asking side. No keep-alive: an idle connection would look like a leak of the test file. */
export function askServiceDesk(deskUrl: string, name: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const request = get(`${deskUrl}/${name}`, { agent: false }, (response) => {
      let body = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => (body += chunk))
      response.on('end', () => (response.statusCode === 200 ? resolve(body) : reject(new Error(body))))
    })
    request.once('error', reject)
  })
}
