import type { CampaignView, LaunchedCampaign, Person } from './campaign-desk.js'
import type { HandOver } from './judge.js'
import type { EmailRecord } from './records.js'
import { type Death, judge, type Verdict } from './verdict.js'

export interface CampaignEvidence {
  readonly campaign: LaunchedCampaign
  /** What the campaign says of itself in the end. */
  readonly view: CampaignView
  readonly records: readonly EmailRecord[]
  readonly handOvers: readonly HandOver[]
  readonly deaths: readonly Death[]
  /** Sentences about samples taken while it ran. */
  readonly outOfStep: readonly string[]
  /** Without a death an email is uncertain because the database went away under it; the judge cannot know which. */
  readonly database: 'stayed' | 'restarted'
}

/**
 * Everybody on the list got the email once, or is listed under why not, and the campaign's own counts are those of the
 * judge's log. What became of each email is judged as in every storm.
 */
export function judgeCampaign(evidence: CampaignEvidence): Verdict {
  const { campaign, view, records, handOvers, deaths, outOfStep, database } = evidence
  const over = records.filter(({ state }) => state !== 'skipped')
  const mailed = new Set(over.map(({ recipient }) => recipient))
  const offered = handOvers.filter(({ recipient }) => mailed.has(recipient))
  const storm = judge({ wishes: [], records: over, handOvers: offered, deaths, onUncertain: 'hold' })
  const broken = [...outOfStep]
  broken.push(...storm.broken.filter((sentence) => database === 'stayed' || !/ is uncertain, /.test(sentence)))

  const byRecipient = groupByRecipient(records)
  const seen = groupByRecipient(handOvers)
  const people = new Set(campaign.people.map(({ recipient }) => recipient))
  for (const recipient of seen.keys()) if (!people.has(recipient)) broken.push(`${recipient} is not on the list`)

  const expected: Record<string, number> = Object.fromEntries(Object.keys(view.counts).map((name) => [name, 0]))
  for (const person of campaign.people) {
    const own = byRecipient.get(person.recipient) ?? []
    const fate = decideFate(own[0], seen.get(person.recipient) ?? [], person)
    for (const sentence of judgePerson(person, own, seen.get(person.recipient) ?? []))
      broken.push(`${person.recipient} ${sentence}`)
    // Removed before anybody looked at them: they were never part of the audience.
    if (fate === null) continue
    expected['audience'] = (expected['audience'] ?? 0) + 1
    expected[fate] = (expected[fate] ?? 0) + 1
  }
  if (view.status !== 'sent') broken.push(`the campaign ended ${view.status}`)
  for (const [name, count] of Object.entries(expected))
    if (view.counts[name] !== count) broken.push(`${name}: the campaign says ${view.counts[name]}, the judge ${count}`)
  const left = {
    removed: expected['removed']!,
    unsubscribed: expected['unsubscribed']!,
    suppressed: expected['suppressed']!,
  }
  return { broken, counts: { people: people.size, ...storm.counts, ...left } }
}

/** Under which count somebody belongs, by the judge's log and, where nothing was offered to it, by what they did. */
function decideFate(record: EmailRecord | undefined, seen: readonly HandOver[], { leaves }: Person): string | null {
  if (record?.state === 'uncertain') return 'uncertain'
  if (seen.some(({ taken }) => taken)) return 'sent'
  if (record === undefined) return leaves === 'removed' ? null : (leaves ?? 'not_planned')
  if (record.state === 'skipped') return leaves
  return (seen.at(-1)?.answer ?? 0) >= 500 ? 'failed' : 'scheduled'
}

const SKIPPED_FOR = { removed: 'contact_removed', unsubscribed: 'unsubscribed', suppressed: 'suppressed' }

function* judgePerson({ leaves }: Person, own: readonly EmailRecord[], seen: readonly HandOver[]): Generator<string> {
  const copies = seen.filter(({ taken }) => taken).length
  if (copies > 1) yield `was mailed ${copies} times`
  if (own.length > 1) yield `has ${own.length} emails of one campaign`
  if (own.length === 0 && leaves === null) yield 'was never planned'
  const [record] = own
  if (record?.state !== 'skipped') return
  if (copies > 0) yield 'is marked skipped, and the judge took it'
  if (leaves === null || SKIPPED_FOR[leaves] !== record.reasonCode) yield `was skipped: ${record.reasonCode}`
}

function groupByRecipient<T extends { readonly recipient: string }>(
  all: readonly T[],
): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>()
  for (const one of all) groups.set(one.recipient, [...(groups.get(one.recipient) ?? []), one])
  return groups
}
