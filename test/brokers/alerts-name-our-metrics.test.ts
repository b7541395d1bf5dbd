import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { createMetrics } from '../../src/metrics.js'

/** Alert rules, their test and the dashboard are data that no program here runs: what they name has to exist. */
const read = (name: string) =>
  readFileSync(fileURLToPath(new URL(`../../docs/operations/${name}`, import.meta.url)), 'utf8')

interface Dashboard {
  readonly panels: readonly { readonly title: string; readonly targets?: readonly { readonly expr: string }[] }[]
}

const named = (text: string) => [...new Set(text.match(/\b(?:postrider|process|nodejs)_[a-z0-9_]+/g) ?? [])]

describe('what docs/operations asks Prometheus for', () => {
  test.each(['alerts.yaml', 'alerts.test.yaml', 'grafana-dashboard.json'])('by %s is exported', async (name) => {
    const metrics = createMetrics({
      backlog: async () => ({ due: 0, oldestDueMs: null, leases: 0, attention: 0 }),
      countActions: async () => [],
      broker: () => ({ name: 'bullmq', isUp: true }),
    })
    const exported = new Set(
      (await metrics.expose())
        .split('\n')
        .flatMap((line) => /^# TYPE (\S+) (\S+)/.exec(line)?.slice(1, 3).join(' ') ?? [])
        .flatMap((line) => {
          const [metric, type] = line.split(' ') as [string, string]
          return type === 'histogram' ? [`${metric}_bucket`, `${metric}_sum`, `${metric}_count`] : [metric]
        }),
    )
    const wanted = named(read(name))
    expect(wanted.length).toBeGreaterThan(3)
    expect(wanted.filter((metric) => !exported.has(metric))).toEqual([])
  })

  test('every panel asks for something', () => {
    const { panels } = JSON.parse(read('grafana-dashboard.json')) as Dashboard
    for (const { title, targets } of panels)
      expect(
        targets?.map(({ expr }) => expr),
        title,
      ).not.toEqual([])
  })

  test('every alert has its test', () => {
    const alerts = [...read('alerts.yaml').matchAll(/alert: (\w+)/g)].map(([, alert]) => alert)
    const tested = new Set([...read('alerts.test.yaml').matchAll(/alertname: (\w+)/g)].map(([, alert]) => alert))
    expect(alerts.filter((alert) => !tested.has(alert))).toEqual([])
  })

  test('counters of a broker begin at 0, or their first loss would be no increase', async () => {
    const metrics = createMetrics({
      backlog: async () => ({ due: 0, oldestDueMs: null, leases: 0, attention: 0 }),
      countActions: async () => [],
      broker: () => ({ name: 'rabbitmq', isUp: false }),
    })
    expect(await metrics.expose()).toContain('postrider_hints_lost_total{broker="rabbitmq"} 0')
  })
})
