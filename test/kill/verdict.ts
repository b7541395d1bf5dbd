import type { Wish } from './callers.js'
import type { HandOver } from './judge.js'
import type { EmailRecord } from './records.js'

/** A process that was killed, and what the judge was in the middle of with it. */
export interface Death {
  readonly door: string
  /** Conversations between 354 and the answer at that instant. */
  readonly inFlight: number
  /** The most emails this process may have had under way. */
  readonly most: number
}

export interface Evidence {
  readonly wishes: readonly Wish[]
  readonly records: readonly EmailRecord[]
  readonly handOvers: readonly HandOver[]
  readonly deaths: readonly Death[]
  readonly onUncertain: 'hold' | 'resend'
}

export interface Verdict {
  /** Empty when every promise was kept; else a sentence for each that was not. */
  readonly broken: readonly string[]
  readonly counts: Readonly<Record<string, number>>
}

/** Compares what the judge saw with what the database says. The judge is right. */
export function judge(evidence: Evidence): Verdict {
  const { wishes, records, handOvers, deaths, onUncertain } = evidence
  const broken: string[] = []
  const killed = new Set(deaths.map(({ door }) => door))
  const byRecipient = groupByRecipient(records)
  const offers = groupByRecipient(handOvers)
  const uncertainBy = new Map<string, number>()
  const counts = {
    emails: records.length,
    sent: 0,
    failed: 0,
    suppressed: 0,
    uncertain: 0,
    uncertainByKill: 0,
    uncertainByJudge: 0,
    uncertainTaken: 0,
    takenTwice: 0,
    takenAndFailed: 0,
    handOvers: handOvers.length,
    faults: handOvers.filter(({ fault }) => fault).length,
    kills: deaths.length,
    inFlightAtKills: deaths.reduce((sum, { inFlight }) => sum + inFlight, 0),
    mostUncertainPerKill: 0,
    lostAnswers: wishes.reduce((sum, { lostAnswers }) => sum + lostAnswers, 0),
    abandoned: wishes.filter(({ abandoned }) => abandoned).length,
  }

  for (const { recipient, ids, abandoned } of wishes) {
    const found = byRecipient.get(recipient)?.length ?? 0
    if (ids.size > 1) broken.push(`${recipient} was acknowledged under ${ids.size} ids`)
    if (ids.size === 1 && found !== 1) broken.push(`${recipient} was acknowledged and exists ${found} times`)
    if (abandoned && found > 1) broken.push(`${recipient} exists ${found} times`)
  }

  for (const record of records) {
    const seen = offers.get(record.recipient) ?? []
    for (const sentence of judgeEmail(record, seen, onUncertain)) broken.push(`${record.recipient} ${sentence}`)
    if (seen.filter(({ taken }) => taken).length > 1) counts.takenTwice++
    if (record.state === 'failed' && seen.some(({ taken }) => taken)) counts.takenAndFailed++
    if (record.state === 'done') counts.sent++
    else if (record.state === 'failed') counts.failed++
    else if (record.state === 'skipped') counts.suppressed++
    else if (record.state === 'uncertain') {
      counts.uncertain++
      const last = seen.filter(({ reached }) => reached !== 'envelope').at(-1)
      if (last?.taken) counts.uncertainTaken++
      if (isSilent(last)) counts.uncertainByJudge++
      else if (!last || !killed.has(last.door))
        broken.push(`${record.recipient} is uncertain, and nothing happened to it`)
      else {
        counts.uncertainByKill++
        uncertainBy.set(last.door, (uncertainBy.get(last.door) ?? 0) + 1)
      }
    }
  }

  for (const { door, most } of deaths) {
    const uncertain = uncertainBy.get(door) ?? 0
    counts.mostUncertainPerKill = Math.max(counts.mostUncertainPerKill, uncertain)
    if (uncertain > most)
      broken.push(`the death of ${door} made ${uncertain} uncertain, and it had ${most} at the most`)
  }
  for (const recipient of offers.keys())
    if (!byRecipient.has(recipient)) broken.push(`${recipient} was offered to the judge and is not in the database`)
  return { broken, counts }
}

function* judgeEmail(
  record: EmailRecord,
  seen: readonly HandOver[],
  onUncertain: Evidence['onUncertain'],
): Generator<string> {
  const copies = seen.filter(({ taken }) => taken)
  const { state } = record
  const isOver = state === 'done' || state === 'failed' || state === 'uncertain'
  if (!isOver) yield `is lost: it ended ${state}`
  if (state === 'done' && copies.length === 0) yield 'is marked sent, and the judge did not take it'
  if (copies.some(({ messageId }) => messageId !== record.messageId)) yield 'went out under another Message-ID'
  if (new Set(copies.map(({ sha256 }) => sha256)).size > 1) yield 'went out with other bytes'
  if (onUncertain === 'hold') {
    if (copies.length > 1) yield `was taken ${copies.length} times`
    if (state !== 'done' && state !== 'uncertain' && copies.length > 0) yield `ended ${state}, and the judge took it`
    const silent = seen.findIndex(isSilent)
    if (silent !== -1 && state !== 'uncertain') yield `had no answer after its body, and is ${state}`
    if (silent !== -1 && silent !== seen.length - 1) yield 'was offered again after it had no answer'
    return
  }
  const doubts = record.rescues + record.outcomes.filter(({ outcome }) => outcome === 'uncertain').length
  // Taken, uncertain, sent again and then refused for good: it is marked failed by its last answer.
  if (state !== 'done' && copies.length > doubts) yield `ended ${state}, and the judge took it`
  if (copies.length > 1 + doubts) yield `was taken ${copies.length} times, and was uncertain ${doubts} times`
}

/** The judge itself left the client in the dark after the body had begun. */
const isSilent = (handOver: HandOver | undefined): boolean =>
  handOver !== undefined && handOver.answer === null && /^(body|dot):/.test(handOver.fault ?? '')

function groupByRecipient<T extends { readonly recipient: string }>(all: readonly T[]): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const one of all) {
    const group = groups.get(one.recipient)
    if (group) group.push(one)
    else groups.set(one.recipient, [one])
  }
  return groups
}
