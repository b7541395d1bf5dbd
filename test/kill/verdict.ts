import type { Wish } from './callers.js'
import type { HandOver } from './judge.js'
import type { EmailRecord } from './records.js'

/** A process that was killed. */
export interface Death {
  readonly door: string
  /** In the judge's order of things. */
  readonly at: number
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
  const byRecipient = groupByRecipient(records)
  const offers = groupByRecipient(handOvers)
  const caught = findCaught(handOvers, deaths)
  const uncertainBy = new Map<string, number>()
  const counts = {
    emails: records.length,
    sent: 0,
    failed: 0,
    uncertain: 0,
    uncertainByKill: 0,
    uncertainByJudge: 0,
    uncertainTaken: 0,
    inDoubt: 0,
    takenTwice: 0,
    handOvers: handOvers.length,
    faults: handOvers.filter(({ fault }) => fault).length,
    kills: deaths.length,
    openAtKills: [...caught].filter(({ answer }) => answer === null).length,
    placesAtKills: deaths.reduce((sum, { most }) => sum + most, 0),
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
    for (const sentence of judgeEmail(record, seen, caught, onUncertain)) broken.push(`${record.recipient} ${sentence}`)
    if (seen.filter(({ taken }) => taken).length > 1) counts.takenTwice++
    if (record.inDoubt) counts.inDoubt++
    if (record.state === 'done') counts.sent++
    if (record.state === 'failed') counts.failed++
    if (record.state !== 'uncertain') continue
    counts.uncertain++
    if (seen.some(({ taken }) => taken)) counts.uncertainTaken++
    if (seen.some(isSilent)) counts.uncertainByJudge++
    const death = seen.findLast((one) => caught.has(one))?.door
    if (death === undefined) continue
    counts.uncertainByKill++
    uncertainBy.set(death, (uncertainBy.get(death) ?? 0) + 1)
  }
  counts.mostUncertainPerKill = Math.max(0, ...uncertainBy.values())

  for (const recipient of offers.keys())
    if (!byRecipient.has(recipient)) broken.push(`${recipient} was offered to the judge and is not in the database`)
  return { broken, counts }
}

/**
 * What a death may have left undecided, by the judge's own log: the hand-overs it had been told to go on with and was still
 * waiting for, and the last that were answered or given up before. An email keeps its place in a process until its
 * outcome is written down, so all of these together are never more than the process has places.
 */
function findCaught(handOvers: readonly HandOver[], deaths: readonly Death[]): ReadonlySet<HandOver> {
  const caught = new Set<HandOver>()
  for (const { door, at, most } of deaths) {
    const toldToGoOn = handOvers.filter((one) => one.door === door && one.reached !== 'envelope' && !isSilent(one))
    const endOf = ({ answered, left }: HandOver) => answered ?? left ?? Number.POSITIVE_INFINITY
    const open = toldToGoOn.filter((one) => endOf(one) > at)
    const ended = toldToGoOn
      .filter((one) => endOf(one) < at)
      .toSorted((a, b) => endOf(b) - endOf(a))
      .slice(0, Math.max(0, most - open.length))
    for (const one of [...open, ...ended]) caught.add(one)
  }
  return caught
}

function* judgeEmail(
  record: EmailRecord,
  seen: readonly HandOver[],
  caught: ReadonlySet<HandOver>,
  onUncertain: Evidence['onUncertain'],
): Generator<string> {
  const copies = seen.filter(({ taken }) => taken)
  const { state, inDoubt } = record
  const isOver = state === 'done' || state === 'failed' || state === 'uncertain'
  if (!isOver) yield `is lost: it ended ${state}`
  if (state === 'done' && copies.length === 0) yield 'is marked sent, and the judge did not take it'
  if (state === 'failed' && copies.length > 0) yield 'is marked failed, and the judge took it'
  if (copies.some(({ messageId }) => messageId !== record.messageId)) yield 'went out under another Message-ID'
  if (new Set(copies.map(({ sha256 }) => sha256)).size > 1) yield 'went out with other bytes'

  const isUndecided = (one: HandOver) => isSilent(one) || caught.has(one)
  // Sent again by policy after such an arm, it is in doubt for good, whatever its worker says later of that first time.
  const ranOutAfterItsArm = inDoubt && record.rescues > 0 && seen.some(wasGivenUpBeforeItsBody)
  if (state === 'uncertain' && !seen.some(isUndecided) && !ranOutAfterItsArm)
    yield `is uncertain, and was not on the wire at a death or a drop: ${seen.map(describe).join('; ')} (on record ${JSON.stringify(record)})`
  const again = findUnrefused(seen)
  if (onUncertain === 'hold') {
    if (again) yield `was handed over again after ${describe(again)}`
    if (inDoubt) yield 'is in doubt, and nobody sent it again'
    if (seen.some(isSilent) && state !== 'uncertain') yield `had no answer after its body, and is ${state}`
    return
  }
  if (again && !inDoubt) yield `was handed over again after ${describe(again)}, and is not in doubt on record`
  // A worker that was kept from renewing its lease is alive, and its answer may come after the policy has decided.
  if (inDoubt && !seen.some(isUndecided) && record.rescues === 0) yield 'is in doubt, and every hand-over was answered'
}

/**
 * The first hand-over that was followed by another although it was not refused: one that was taken, or that nobody
 * answered, or that was still going on. A hand-over begins with the first byte of the body: who lost its lease comes to
 * the 354, is refused when it arms, and sends none.
 */
function findUnrefused(seen: readonly HandOver[]): HandOver | undefined {
  const begun = seen.filter((one) => one.begun !== null).toSorted((a, b) => a.begun! - b.begun!)
  return begun.find((one, i) => {
    const next = begun[i + 1]
    return next && !(one.answer !== null && one.answer >= 400 && one.answered! < next.begun!)
  })
}

const describe = ({ door, reached, taken, answer, fault }: HandOver): string =>
  `one by ${door} that came to its ${reached}, was ${taken ? '' : 'not '}taken and answered ${answer ?? 'nothing'}${fault ? ` (${fault})` : ''}`

/**
 * Its client came to the 354 and went away without a byte of the body. One whose arm was committed and whose answer was
 * lost, because the database went away in that moment, does so: it hands nothing over. While the database is away its
 * lease runs out, and to everybody else it looks as if it had died with the message on the wire.
 */
const wasGivenUpBeforeItsBody = ({ reached, begun, left }: HandOver): boolean =>
  reached === 'go' && begun === null && left !== null

/** The judge itself left the client in the dark after the body had begun. */
const isSilent = (handOver: HandOver): boolean => handOver.answer === null && /^(body|dot):/.test(handOver.fault ?? '')

function groupByRecipient<T extends { readonly recipient: string }>(all: readonly T[]): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const one of all) {
    const group = groups.get(one.recipient)
    if (group) group.push(one)
    else groups.set(one.recipient, [one])
  }
  return groups
}
