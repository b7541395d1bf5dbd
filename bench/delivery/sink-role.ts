import type * as SinkModule from '../../src/cli/sink/start-sink.js'
import type { Stage } from './role.js'

/** Our own sink, where Postfix's is not installed: takes everything, and neither logs nor remembers it. */
export async function runSink(
  { postriderUrl }: { postriderUrl: string },
  { ready, stopped }: Stage<{ port: number }>,
): Promise<{ messages: number }> {
  const { startSink } = (await import(`${postriderUrl}cli/sink/start-sink.js`)) as typeof SinkModule
  const sink = await startSink({ remember: false })
  ready({ port: sink.port })
  await stopped
  const { messages } = sink.counts()
  await sink.close()
  return { messages }
}
