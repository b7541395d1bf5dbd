import { Temporal } from 'temporal-polyfill'
import type { Pace } from '../../src/domain/pace.js'
import type { SequenceGraph } from '../../src/domain/sequence.js'
import { followPath } from './follow-path.js'

/**
 * The rules of sequences, checked from the outside: from the emails that went out, what was heard, what people did, and
 * the settings. The arithmetic is its own, with Temporal; nothing that plans or sends is used here.
 */
export interface Facts {
  readonly senders: readonly SenderFacts[]
  readonly campaigns: readonly CampaignFacts[]
  readonly walks: readonly WalkFacts[]
  readonly mails: readonly Mail[]
  readonly events: readonly HeardEvent[]
  readonly stops: readonly Stop[]
  readonly pauses: readonly Pause[]
}

export interface SenderFacts {
  readonly address: string
  readonly pace: Pace
  readonly rampUpFrom: string | null
}

export interface CampaignFacts {
  /** Its name, which its emails carry. */
  readonly name: string
  readonly sequence: string
  readonly list: string
  readonly graph: SequenceGraph
  /** Who was on its list when it was launched. */
  readonly contacts: readonly string[]
  readonly launchedAt: number
}

/** Who walks what, as the database has it. */
export interface WalkFacts {
  readonly to: string
  readonly campaign: string
  readonly sequence: string
  readonly attributes: Readonly<Record<string, unknown>>
  readonly enrolledAt: number
  readonly state: string
}

export interface Mail {
  readonly at: number
  /** What its Date says. */
  readonly date: number
  readonly to: string
  readonly from: string
  readonly campaign: string
  readonly sequence: string
  readonly node: string
  readonly subject: string
  readonly messageId: string
  readonly inReplyTo: string | null
  readonly references: readonly string[]
}

export interface HeardEvent {
  readonly at: number
  readonly to: string
  readonly type: string
  /** Null: of the contact, whatever it walks. */
  readonly sequence: string | null
}

/** From then on nothing: of one sequence, of all campaigns of a list, of a campaign, or of anything at all. */
export interface Stop {
  readonly at: number
  readonly why: string
  readonly to?: string
  readonly sequence?: string
  readonly list?: string
  readonly campaign?: string
}

export interface Pause {
  readonly from: number
  readonly until: number
  readonly to?: string
  readonly sequence?: string
  readonly campaign?: string
}

export interface Settled {
  /** Everything has come to its end: whoever nothing stopped must have got everything. */
  readonly isOver: boolean
  /** A process that was killed could not say when its last email was taken, only when it began to hand it over. */
  readonly lostMs?: number
}

/** What is broken, a sentence each; none when all is well. */
export function checkRules(facts: Facts, { isOver, lostMs = 0 }: Settled): string[] {
  return [
    ...facts.senders.flatMap((sender) =>
      checkSender(
        sender,
        facts.mails.filter(({ from }) => from === sender.address),
        lostMs,
      ),
    ),
    ...checkStrangers(facts),
    ...checkTwice(facts),
    ...checkHalts(facts),
    ...facts.walks.flatMap((walk) => checkWalk(facts, walk, isOver)),
    ...checkEverybody(facts),
  ]
}

/** Never outside the window, never over the quota of the day, never closer than the gap. */
function checkSender({ address, pace, rampUpFrom }: SenderFacts, mails: readonly Mail[], lostMs: number): string[] {
  const broken: string[] = []
  const perDay = new Map<string, number>()
  const inOrder = mails.toSorted((a, b) => a.at - b.at)
  for (const [i, mail] of inOrder.entries()) {
    const wall = Temporal.Instant.fromEpochMilliseconds(mail.at).toZonedDateTimeISO(pace.timezone)
    const day = wall.toPlainDate().toString()
    const minute = wall.hour * 60 + wall.minute
    perDay.set(day, (perDay.get(day) ?? 0) + 1)
    const said = `${address} sent ${mail.node} to ${mail.to} at ${wall.toString()}`
    if (!pace.sendingDays.includes(wall.dayOfWeek)) broken.push(`${said}: not one of its days`)
    if (pace.blackoutDates.includes(day)) broken.push(`${said}: that date is blacked out`)
    if (minute < pace.startMinute || minute >= pace.endMinute) broken.push(`${said}: outside its hours`)
    const before = inOrder[i - 1]
    if (before && mail.at - before.at < pace.gapMinSeconds * 1_000 - lostMs)
      broken.push(`${said}: only ${mail.at - before.at} ms after the one before`)
  }
  for (const [day, count] of perDay) {
    const quota = quotaOf(pace, rampUpFrom, day)
    if (count > quota) broken.push(`${address} sent ${count} on ${day}: its quota was ${quota}`)
  }
  return broken
}

function quotaOf(pace: Pace, rampUpFrom: string | null, day: string): number {
  const most = pace.dailyQuota ?? Number.POSITIVE_INFINITY
  if (!pace.rampUpEnabled || rampUpFrom === null) return most
  const age = Temporal.PlainDate.from(rampUpFrom).until(Temporal.PlainDate.from(day), { largestUnit: 'days' }).days
  return Math.min(most, pace.rampUpStart + pace.rampUpStep * Math.max(age, 0))
}

function checkStrangers({ mails, senders }: Facts): string[] {
  const known = new Set(senders.map(({ address }) => address))
  return mails.filter(({ from }) => !known.has(from)).map(({ from, to }) => `${to} got mail from a stranger, ${from}`)
}

function checkTwice({ mails }: Facts): string[] {
  const seen = new Map<string, number>()
  for (const { to, sequence, node } of mails) {
    const step = `${to} got ${node} of ${sequence}`
    seen.set(step, (seen.get(step) ?? 0) + 1)
  }
  return [...seen].filter(([, count]) => count > 1).map(([step, count]) => `${step} ${count} times`)
}

/** Nothing after a stop, nothing during a pause. */
function checkHalts({ mails, stops, pauses, campaigns }: Facts): string[] {
  const listOf = new Map(campaigns.map(({ name, list }) => [name, list]))
  const concerns = (halt: Omit<Stop, 'at' | 'why'>, mail: Mail) =>
    (halt.to === undefined || halt.to === mail.to) &&
    (halt.sequence === undefined || halt.sequence === mail.sequence) &&
    (halt.campaign === undefined || halt.campaign === mail.campaign) &&
    (halt.list === undefined || halt.list === listOf.get(mail.campaign))
  const said = ({ to, node, sequence, at }: Mail) => `${to} got ${node} of ${sequence} at ${new Date(at).toISOString()}`
  return mails.flatMap((mail) => [
    ...stops
      .filter((stop) => mail.at > stop.at && concerns(stop, mail))
      .map(({ at, why }) => `${said(mail)}, but: ${why} at ${new Date(at).toISOString()}`),
    ...pauses
      .filter((pause) => mail.at > pause.from && mail.at < pause.until && concerns(pause, mail))
      .map(() => `${said(mail)}, in a pause`),
  ])
}

/** The steps of its path, in order and each after its delay, from one sender, in threads. */
function checkWalk(facts: Facts, walk: WalkFacts, isOver: boolean): string[] {
  const { to, sequence, campaign } = walk
  const of = facts.campaigns.find(({ name }) => name === campaign)
  if (!of) return [`${to} walks in ${campaign}, which nobody launched`]
  const mails = facts.mails
    .filter((mail) => mail.to === to && mail.sequence === sequence)
    .toSorted((a, b) => a.at - b.at)
  const isStopped = facts.stops.some((stop) => concernsWalk(stop, walk, of.list))
  const events = facts.events
    .filter((event) => event.to === to && (event.sequence === null || event.sequence === sequence))
    .toSorted((a, b) => a.at - b.at)
  const said = `${to} in ${sequence} (${mails.map(({ node }) => node).join(', ') || 'nothing'})`
  const wrong = followPath({ ...walk, graph: of.graph, mails, events, isCutOff: isStopped || !isOver })
  const senders = new Set(mails.map(({ from }) => from))
  return [
    ...(wrong ? [`${said}: ${wrong}`] : []),
    ...(senders.size > 1 ? [`${said}: from ${[...senders].join(' and ')}`] : []),
    ...mails
      .filter((mail) => mail.campaign !== campaign)
      .map((mail) => `${said}: ${mail.node} came of ${mail.campaign}`),
    ...(isOver && walk.state !== 'completed' && !isStopped && !endsWithStop(of.graph)
      ? [`${said}: nothing stopped it, and it is ${walk.state}`]
      : []),
    ...(isOver && (walk.state === 'active' || walk.state === 'paused') ? [`${said}: still ${walk.state}`] : []),
    ...checkThread(of.graph, mails, said),
  ]
}

const endsWithStop = ({ nodes }: SequenceGraph) => nodes.some(({ type }) => type === 'stop')

const concernsWalk = (stop: Stop, { to, sequence, campaign }: WalkFacts, list: string) =>
  (stop.to === undefined || stop.to === to) &&
  (stop.sequence === undefined || stop.sequence === sequence) &&
  (stop.campaign === undefined || stop.campaign === campaign) &&
  (stop.list === undefined || stop.list === list)

/** RFC 5322 3.6.4: a follow-up answers the last email of the thread and names all of it, under the first one's subject. */
function checkThread({ nodes }: SequenceGraph, mails: readonly Mail[], said: string): string[] {
  const broken: string[] = []
  let thread: Mail[] = []
  for (const mail of mails) {
    const node = nodes.find(({ id }) => id === mail.node)
    const last = node?.type === 'send' && node.reply ? thread.at(-1) : undefined
    if (!last) thread = []
    const wanted = thread.map(({ messageId }) => messageId)
    if (mail.inReplyTo !== (last?.messageId ?? null))
      broken.push(`${said}: ${mail.node} answers ${mail.inReplyTo} instead of ${last?.messageId ?? null}`)
    if (mail.references.join(' ') !== wanted.join(' '))
      broken.push(`${said}: ${mail.node} refers to ${mail.references.join(' ')} instead of ${wanted.join(' ')}`)
    if (last && node?.type === 'send' && node.subject === null && mail.subject !== `Re: ${thread[0]!.subject}`)
      broken.push(`${said}: ${mail.node} is about ${mail.subject} instead of ${thread[0]!.subject}`)
    thread.push(mail)
  }
  return broken
}

/** Whoever was on a list and had not left before walks the sequence, once. */
function checkEverybody({ campaigns, walks, stops }: Facts): string[] {
  const walking = new Map<string, number>()
  for (const { to, sequence } of walks) walking.set(`${to} ${sequence}`, (walking.get(`${to} ${sequence}`) ?? 0) + 1)
  const twice = [...walking].filter(([, count]) => count > 1).map(([who, count]) => `${who}: enrolled ${count} times`)
  const left = campaigns.flatMap(({ name, sequence, list, contacts, launchedAt }) =>
    contacts
      .filter((to) => !walking.has(`${to} ${sequence}`))
      .filter((to) => {
        const gone = { to, sequence, campaign: name }
        return !stops.some((stop) => stop.at <= launchedAt && stop.sequence === undefined && isOf(stop, gone, list))
      })
      .map((to) => `${to} was left out of ${name}`),
  )
  return [...twice, ...left]
}

const isOf = (stop: Stop, who: { readonly to: string; readonly campaign: string }, list: string) =>
  (stop.to === undefined || stop.to === who.to) &&
  (stop.campaign === undefined || stop.campaign === who.campaign) &&
  (stop.list === undefined || stop.list === list)
