import type { CampaignStatus } from './campaign.js'
import type { Standstill } from './explain-campaign.js'

/**
 * What somebody should look at, in words, with where to find it. Nothing is in the list that goes on by itself: a
 * healthy system has an empty one.
 */
export interface AttentionItem {
  readonly kind: AttentionKind
  readonly severity: Severity
  readonly text: string
  readonly count: number
  readonly link: AttentionLink | null
}

export const ATTENTION_KINDS = [
  'no_worker',
  'backlog',
  'schema',
  'clock',
  'broker',
  'sender_paused',
  'campaign_stuck',
  'uncertain_emails',
  'failed_emails',
  'failed_actions',
  'failed_imports',
  'untold_failures',
] as const
export type AttentionKind = (typeof ATTENTION_KINDS)[number]

/** Critical: nothing moves until somebody does something. Warning: something was lost or may be. Info: somebody's own doing. */
export const SEVERITIES = ['critical', 'warning', 'info'] as const
export type Severity = (typeof SEVERITIES)[number]

export type LinkPage = 'emails' | 'senders' | 'campaigns' | 'imports' | 'settings'

export interface AttentionLink {
  readonly page: LinkPage
  /** As the list of that page takes it. */
  readonly filter?: Readonly<Record<string, string>>
  /** Instead of a filter: exactly these. */
  readonly ids?: readonly string[]
}

export interface Facts {
  readonly takeable: number
  readonly oldestTakeableSeconds: number | null
  /** Whether anybody holds anything: if not, nobody works. */
  readonly workersHold: boolean
  readonly groups: readonly {
    readonly isEmail: boolean
    readonly state: 'failed' | 'uncertain'
    readonly code: string | null
    readonly count: number
    readonly reason: string | null
  }[]
  readonly capped: boolean
  readonly senders: readonly {
    readonly id: string
    readonly address: string
    readonly pausedCode: string | null
    readonly pausedReason: string | null
  }[]
  readonly campaigns: readonly {
    readonly id: string
    readonly name: string
    readonly status: CampaignStatus
    readonly standstill: Standstill | null
  }[]
  readonly failedImports: readonly string[]
  /** Failures of which the broker should have been told minutes ago. */
  readonly untoldFailures: number
  readonly clockSkewMs: number
  /** What is wrong with the schema, in words; null when nothing is. */
  readonly schema: string | null
  /** A broker that is set and does not answer. */
  readonly brokerDown: string | null
}

/** Longer than a worker takes to notice anything. */
const UNNOTICED_SECONDS = 60
/** Longer than a rush lasts that nobody minds. */
const BEHIND_SECONDS = 300
const SKEWED_MS = 2_000
const LONGEST_REASON = 160

/** The most urgent first. */
export function listAttention(facts: Facts): AttentionItem[] {
  const items = [
    ...ofWorkers(facts),
    ...ofSystem(facts),
    ...ofSenders(facts),
    ...ofCampaigns(facts),
    ...ofActions(facts),
    ...ofImports(facts),
  ]
  return items.toSorted((a, b) => SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity))
}

function ofWorkers({ takeable, oldestTakeableSeconds, workersHold }: Facts): AttentionItem[] {
  if (oldestTakeableSeconds === null || takeable === 0) return []
  const age = inWords(oldestTakeableSeconds)
  const due = `${emails(takeable)} ${takeable === 1 ? 'is' : 'are'} due, the oldest for ${age}`
  const link = { page: 'emails', filter: { status: 'scheduled' } } as const
  if (!workersHold && oldestTakeableSeconds > UNNOTICED_SECONDS)
    return [
      {
        kind: 'no_worker',
        severity: 'critical',
        text: `${due}, and nobody takes them. Is a worker running (postrider work)?`,
        count: takeable,
        link,
      },
    ]
  if (oldestTakeableSeconds <= BEHIND_SECONDS) return []
  const text = `${due}: the workers do not keep up. Start more of them, or raise WORKER_CONCURRENCY.`
  return [{ kind: 'backlog', severity: 'warning', text, count: takeable, link }]
}

function ofSystem({ schema, clockSkewMs, brokerDown, untoldFailures }: Facts): AttentionItem[] {
  const link = { page: 'settings' } as const
  const item = (kind: AttentionKind, severity: Severity, text: string, count = 1): AttentionItem => ({
    kind,
    severity,
    text,
    count,
    link,
  })
  const skew = inWords(clockSkewMs / 1_000)
  return [
    ...(schema === null ? [] : [item('schema', 'critical', schema)]),
    ...(clockSkewMs < SKEWED_MS
      ? []
      : [
          item(
            'clock',
            'warning',
            `The clocks of this server and of the database differ by ${skew}. The database's decides when mail goes out; check NTP.`,
          ),
        ]),
    ...(brokerDown === null
      ? []
      : [
          item(
            'broker',
            'warning',
            `${brokerDown} does not answer. Workers look for themselves until it is back, a moment later than usual.`,
          ),
        ]),
    ...(untoldFailures === 0
      ? []
      : [
          item(
            'untold_failures',
            'warning',
            `The broker was not told of ${plural(untoldFailures, 'failure')} for minutes: its dead-letter queue is behind.`,
            untoldFailures,
          ),
        ]),
  ]
}

/** A person's own pause is only remembered; one the system made needs somebody. */
const ofSenders = ({ senders }: Facts): AttentionItem[] =>
  senders.flatMap(({ id, address, pausedCode, pausedReason }) =>
    pausedReason === null
      ? []
      : [
          {
            kind: 'sender_paused',
            severity: pausedCode === 'paused' ? 'info' : 'critical',
            text: `Sender ${address} is paused: ${sentence(pausedReason)} Its emails wait until somebody resumes it.`,
            count: 1,
            link: { page: 'senders', ids: [id] },
          },
        ],
  )

const STUCK: Partial<Record<Standstill['code'], Severity>> = {
  sender_missing: 'critical',
  sender_paused: 'warning',
  planning_failed: 'critical',
  planning_interrupted: 'warning',
  no_worker: 'critical',
}

const ofCampaigns = ({ campaigns }: Facts): AttentionItem[] =>
  campaigns.flatMap(({ id, name, standstill }) => {
    const severity = standstill && STUCK[standstill.code]
    if (!severity) return []
    const text = `Campaign “${name}” does not move. ${standstill.text}`
    return [{ kind: 'campaign_stuck', severity, text, count: 1, link: { page: 'campaigns', ids: [id] } }]
  })

const CAUSES: Readonly<Record<string, string>> = {
  recipient: 'the mail server does not know the address',
  sender: 'the mail server refused the sender',
  message: 'the mail server refused the message',
  attempts_exhausted: 'every attempt was put off, and there are none left',
}

function ofActions({ groups, capped }: Facts): AttentionItem[] {
  const some = capped ? 'At least ' : ''
  return groups.map(({ isEmail, state, code, count, reason }) => {
    const last = reason === null ? '' : ` The newest: ${shorten(reason)}`
    const filter = { status: state, ...(code !== null && { reason_code: code }) }
    const link = isEmail ? ({ page: 'emails', filter } as const) : null
    if (!isEmail)
      return {
        kind: 'failed_actions',
        severity: 'warning',
        text: `${some}${plural(count, 'planned step')} ${state === 'failed' ? 'failed' : 'may or may not have happened'}.${last}`,
        count,
        link,
      }
    if (state === 'uncertain')
      return {
        kind: 'uncertain_emails',
        severity: 'warning',
        text: `${some}${emails(count)} may or may not have gone out: the reply never came. Find out, and mark ${count === 1 ? 'it' : 'them'} as sent or send ${count === 1 ? 'it' : 'them'} again.`,
        count,
        link,
      }
    const cause = CAUSES[code ?? ''] ?? 'for the reason shown with each'
    return {
      kind: 'failed_emails',
      severity: 'warning',
      text: `${some}${emails(count)} failed: ${cause}.${last}`,
      count,
      link,
    }
  })
}

function ofImports({ failedImports }: Facts): AttentionItem[] {
  const count = failedImports.length
  if (count === 0) return []
  const text = `${plural(count, 'import')} ended early since yesterday. What was read by then is kept: run it again, and it merges.`
  return [{ kind: 'failed_imports', severity: 'warning', text, count, link: { page: 'imports', ids: failedImports } }]
}

const UNITS = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const

/** As long as anybody wants to know: the seconds of a minute, not those of an hour. */
function inWords(seconds: number): string {
  const [unit, length] = UNITS.find(([, size]) => seconds >= 2 * size) ?? (['second', 1] as const)
  return plural(Math.max(1, Math.floor(seconds / length)), unit)
}

const plural = (count: number, noun: string) => `${count.toLocaleString('en-GB')} ${noun}${count === 1 ? '' : 's'}`
const emails = (count: number) => plural(count, 'email')
const sentence = (text: string) => `${text.replace(/[.\s]+$/, '')}.`
const shorten = (text: string) => (text.length > LONGEST_REASON ? `${text.slice(0, LONGEST_REASON)}…` : sentence(text))
