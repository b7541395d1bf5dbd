import { Redis } from 'ioredis'

/** How much a confirmed write to this Redis is worth. */
export async function describeRedis(url: string): Promise<Record<string, string>> {
  const client = new Redis(url)
  try {
    const info = await client.info('server')
    const settings: Record<string, string> = { version: /redis_version:(\S+)/.exec(info)?.[1] ?? 'unknown' }
    for (const name of ['appendonly', 'appendfsync', 'save']) {
      // A managed Redis may forbid the question.
      const answer = await client.config('GET', name).catch(() => null)
      settings[name] = Array.isArray(answer) ? String(answer[1]) : 'unknown'
    }
    return settings
  } finally {
    client.disconnect()
  }
}
