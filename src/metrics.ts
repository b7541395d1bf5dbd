import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { Backlog } from './db/actions.js'
import type { LeasedAction, Outcome } from './domain/action.js'
import type { Attempt } from './domain/attempt.js'
import { VERSION } from './version.js'

/** What machines watch. No address and no id is ever a label. */
export interface Metrics {
  /** In Prometheus' text format; asks the database for what only it knows. */
  expose(): Promise<string>
  readonly contentType: string
  onAttempt(attempt: Attempt): void
  onSettled(action: LeasedAction, outcome: Outcome): void
  /** So many hints were confirmed by the broker. */
  onPublished(broker: string, hints: number): void
  onSwept(broker: string, swept: Readonly<Record<'lost' | 'unclaimed' | 'unpublished', number>>): void
  /** Messages that found nothing to do. */
  onDropped(broker: string, messages: number): void
  onRebuilt(rebuilt: { readonly pending: number; readonly uncertain: number; readonly promoted: number }): void
}

const DURATIONS_S = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 600]

export interface ActionCount {
  readonly type: string
  readonly state: string
  readonly count: number
}

export interface MetricsSource {
  backlog(): Promise<Backlog>
  countActions(): Promise<readonly ActionCount[]>
  /** Null without a broker. */
  broker(): { readonly name: string; readonly isUp: boolean } | null
}

export function createMetrics(source: MetricsSource): Metrics {
  const registers = [new Registry()]
  const registry = registers[0]!
  collectDefaultMetrics({ register: registry })
  const actions = new Gauge({
    name: 'postrider_actions',
    help: 'Actions that are not over, by type and state.',
    labelNames: ['type', 'state'],
    registers,
  })
  const due = new Gauge({ name: 'postrider_due_actions', help: 'Actions that are due and not taken.', registers })
  const oldest = new Gauge({
    name: 'postrider_oldest_due_age_seconds',
    help: 'How long the oldest due action has been waiting.',
    registers,
  })
  const emails = new Counter({
    name: 'postrider_emails_total',
    help: 'Attempts to hand an email over, by what came of them.',
    labelNames: ['outcome'],
    registers,
  })
  const duration = new Histogram({
    name: 'postrider_attempt_duration_seconds',
    help: 'How long attempts took.',
    buckets: DURATIONS_S,
    registers,
  })
  const lag = new Histogram({
    name: 'postrider_schedule_lag_seconds',
    help: 'How long actions were due before a worker took them.',
    buckets: DURATIONS_S,
    registers,
  })
  const requeued = new Counter({ name: 'postrider_requeued_total', help: 'Actions scheduled again.', registers })
  const dead = new Counter({ name: 'postrider_dead_total', help: 'Actions that failed for good.', registers })
  const uncertain = new Counter({
    name: 'postrider_uncertain_total',
    help: 'Actions of which nobody can know whether they happened.',
    registers,
  })
  const rebuilt = new Counter({
    name: 'postrider_rebuild_enqueued_total',
    help: 'Actions the sweep brought back or made due.',
    registers,
  })
  const published = new Counter({
    name: 'postrider_hints_published_total',
    help: 'Hints a broker has confirmed.',
    labelNames: ['broker'],
    registers,
  })
  const lost = new Counter({
    name: 'postrider_hints_lost_total',
    help: 'Hints the broker had and lost, as far as its own counts prove it.',
    labelNames: ['broker'],
    registers,
  })
  const repeated = new Counter({
    name: 'postrider_hints_repeated_total',
    help: 'Hints the sweep published again: lost, or not claimed or not confirmed in time.',
    labelNames: ['broker'],
    registers,
  })
  const dropped = new Counter({
    name: 'postrider_hints_dropped_total',
    help: 'Messages that found nothing to do: their action was settled, canceled, held or taken.',
    labelNames: ['broker'],
    registers,
  })
  const brokerUp = new Gauge({
    name: 'postrider_broker_up',
    help: 'Whether the broker tells this process what is due; 0 while it looks for itself.',
    labelNames: ['broker'],
    registers,
  })
  new Gauge({ name: 'postrider_build_info', help: 'Which version this is.', labelNames: ['version'], registers })
    .labels(VERSION)
    .set(1)

  /** What only the database knows. When it is away that is unknown, not what it was before. */
  const refresh = async () => {
    const broker = source.broker()
    if (broker) {
      brokerUp.labels(broker.name).set(broker.isUp ? 1 : 0)
      // From 0 on: of a series that begins with its first loss no rate would show that loss.
      for (const counter of [published, lost, repeated, dropped]) counter.labels(broker.name).inc(0)
    }
    due.set(Number.NaN)
    oldest.set(Number.NaN)
    actions.reset()
    const [backlog, counts] = await Promise.all([source.backlog(), source.countActions()])
    due.set(backlog.due)
    oldest.set(Math.max(0, backlog.oldestDueMs ?? 0) / 1_000)
    for (const { type, state, count } of counts) actions.labels(type, state).set(count)
  }

  return {
    contentType: registry.contentType,
    async expose() {
      await refresh().catch(() => undefined)
      return registry.metrics()
    },
    onAttempt(attempt) {
      emails.labels(attempt.outcome).inc()
      duration.observe(attempt.durationMs / 1_000)
    },
    onSettled(action, outcome) {
      lag.observe(Math.max(0, action.lagMs) / 1_000)
      if (outcome.kind === 'retry') requeued.inc()
      if (outcome.kind === 'failed') dead.inc()
      if (outcome.kind === 'uncertain') uncertain.inc()
    },
    onPublished: (broker, hints) => published.labels(broker).inc(hints),
    onSwept(broker, swept) {
      const again = swept.lost + swept.unclaimed + swept.unpublished
      lost.labels(broker).inc(swept.lost)
      repeated.labels(broker).inc(again)
      rebuilt.inc(again)
    },
    onDropped: (broker, messages) => dropped.labels(broker).inc(messages),
    onRebuilt({ pending, uncertain: undecided, promoted }) {
      rebuilt.inc(pending + promoted)
      uncertain.inc(undecided)
    },
  }
}
