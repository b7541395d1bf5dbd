import { askBroker } from '../../compose-relay.js'
import type { Config } from '../../config.js'
import type { Log } from '../../log.js'
import type { Finding } from '../../operations/examine.js'

const PATIENCE_MS = 5_000

/** Connects to the broker, if there is one. One that is away is no problem for any email: workers look for themselves. */
export async function examineBroker({ brokerUrl }: Pick<Config, 'brokerUrl'>, log: Log): Promise<Finding> {
  const finding = (verdict: Finding['verdict'], text: string) => ({ subject: 'broker', verdict, text })
  if (brokerUrl === null) return finding('ok', 'none: workers ask the database')
  const where = new URL(brokerUrl).host
  try {
    const held = await askBroker(brokerUrl, log, PATIENCE_MS)
    return held === null
      ? finding('warning', `${where} does not answer: check BROKER_URL; until it does, workers look for themselves`)
      : finding('ok', `${where} answers and holds ${held} hints`)
  } catch (error) {
    return finding('problem', (error as Error).message)
  }
}
