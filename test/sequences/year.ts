import { RETRY_POLICIES } from '../../src/index.js'
import { startScriptedSmtp } from '../support/scripted-smtp.js'
import { seededRandom } from '../support/seeded-random.js'
import { checkBooks } from './check-books.js'
import { createIncidents } from './incidents.js'
import { readFacts, type TakenMail } from './read-facts.js'
import { checkRules } from './rules.js'
import { DAY, type Ground, HOUR, MINUTE, type NodeSketch, OFFICE, openWorld, SECOND, type World } from './world.js'

/**
 * Months of senders, campaigns and people on a clock that skips what is empty, with everything that happens to them:
 * answers, clicks, bounces, pauses, processes that end, servers that refuse for hours, days on which nobody worked. Then
 * everything comes to its end, and the rules are heard.
 */
export interface YearOptions {
  readonly seed: number
  readonly contacts: number
  readonly campaigns: number
  readonly from: Date
  readonly days: number
  readonly workers?: number
  readonly report?: (line: string) => void
  /** Who does the due work at each instant, instead of the world's own workers. */
  readonly hire?: (world: World, server: YearServer) => Promise<Crew>
}

/** Who may be killed meanwhile. */
export interface Crew {
  tick(): Promise<void>
  close(): Promise<void>
  readonly counts: Readonly<Record<string, number>>
  /** How much of a gap a kill can hide. */
  readonly lostMs: number
}

export type YearServer = Awaited<ReturnType<typeof startServer>>

export interface Year {
  readonly broken: readonly string[]
  readonly counts: Readonly<Record<string, number>>
}

/** Tried for half a day: what a server refuses for hours goes out at last. */
export const PATIENT = {
  name: 'outreach',
  waitsMs: [1, 5, 15, 60, 120, 240, 240].map((m) => m * MINUTE),
  maxAttempts: 8,
  jitter: 0,
}
/** Of the contacts, over the whole time. */
const SHARES = { reply: 0.06, click: 0.25, bounce: 0.03, leave: 0.04, stop: 0.02, pause: 0.05 } as const
/** Of those whom the server of one sender does not know. */
const UNKNOWN = 0.03
const LONGEST_END_DAYS = 400
const SOON = 6 * DAY

const send = (id: string, delayMs: number, next: string | null, reply = true): NodeSketch => ({
  id,
  type: 'send',
  delayMs,
  reply,
  next,
})

const SEQUENCES: readonly (readonly NodeSketch[])[] = [
  [send('a', 0, 'b', false), send('b', 2 * DAY, 'c'), send('c', 3 * DAY, null)],
  [
    send('a', HOUR, 'rest', false),
    { id: 'rest', type: 'wait', durationMs: DAY, next: 'clicks' },
    { id: 'clicks', type: 'wait_for', event: 'clicked', timeoutMs: 2 * DAY, onEvent: 'yes', onTimeout: 'no' },
    send('yes', HOUR, 'thanks'),
    send('thanks', DAY, null),
    send('no', 0, null, false),
  ],
  [
    send('a', 0, 'clicks', false),
    { id: 'clicks', type: 'wait_for', event: 'clicked', timeoutMs: DAY, onEvent: 'plan', onTimeout: 'b' },
    send('b', 0, 'plan'),
    {
      id: 'plan',
      type: 'branch',
      condition: { attribute: 'plan', is: 'equals', value: 'pro' },
      // oxlint-disable-next-line unicorn/no-thenable -- the name of a node: nothing can await it
      then: 'pro',
      else: 'free',
    },
    send('pro', 30 * MINUTE, null),
    send('free', 12 * HOUR, 'bye'),
    send('bye', 4 * DAY, null, false),
  ],
]

export async function runYear(ground: Ground, options: YearOptions): Promise<Year> {
  const { seed, contacts, campaigns, days, report = () => undefined } = options
  const random = seededRandom(seed)
  const world = await openWorld(ground, {
    workers: options.workers ?? 1,
    random: () => random.next(),
    retryPolicies: { ...RETRY_POLICIES, outreach: PATIENT },
  })
  const server = await startServer(world)
  const counts: Record<string, number> = {}
  const count = (what: string, happened: unknown = true) =>
    void (counts[what] = (counts[what] ?? 0) + (happened ? 1 : 0))
  const crew = await options.hire?.(world, server)
  if (crew) world.tick = () => crew.tick()
  try {
    await world.goTo(options.from.getTime())
    const people = Array.from({ length: contacts }, (_, i) => `p${i}@example.com`)
    const plans = new Map(people.map((address) => [address, random.pick(['pro', 'free'])]))
    for (const address of people) if (random.next() < UNKNOWN) server.unknown.add(address)
    await world.contacts(people, (address) => ({ plan: plans.get(address)! }))
    const names = await prepare(world, { people, campaigns, days, random, server })
    const incidents = createIncidents(world)
    const pauses: { readonly until: number; readonly end: () => Promise<void> }[] = []
    const wanted = Object.entries(SHARES).flatMap(([what, share]) =>
      Array.from({ length: Math.round(share * contacts) }, () => what as keyof typeof SHARES),
    )
    const end = world.now() + days * DAY
    const launches = names.map((name, i) => ({ name, at: world.now() + (i / names.length) * 0.6 * days * DAY }))
    const slices = Math.max(days, Math.round(wanted.length / 6))
    let instants = 0
    // While somebody walks: in the days after a launch.
    let pending = wanted.map((what) => ({ what, at: random.pick(launches).at + random.between(HOUR, SOON) }))
    for (let slice = 1; slice <= slices; slice++) {
      const until = end - ((slices - slice) / slices) * days * DAY
      for (const { name } of launches.filter(({ at }) => at < until).splice(0)) {
        const campaign = world.diary.campaigns.find((one) => one.name === name)!
        if (Number.isFinite(campaign.launchedAt)) continue
        const launched = await world.launch(campaign.id)
        counts['scheduled'] = (counts['scheduled'] ?? 0) + launched.scheduled
      }
      if (random.next() < 0.04) {
        count('days off')
        await world.goTo(world.now() + random.between(HOUR, 30 * HOUR))
      }
      if (random.next() < 0.06) {
        count('refusals for hours')
        server.awayUntil = world.now() + random.between(HOUR, 9 * HOUR)
      }
      instants += await world.liveUntil(until)
      if (random.next() < 0.1) {
        count('restarts')
        await world.restart()
      }
      for (const pause of pauses.filter(({ until: over }) => over <= until)) await pause.end()
      pauses.splice(0, pauses.length, ...pauses.filter(({ until: over }) => over > until))
      const due = pending.filter(({ at }) => at <= until)
      pending = pending.filter(({ at }) => at > until)
      for (const { what } of due) {
        const walking = await readWalking(world)
        const to = random.pick(walking.length > 0 ? walking : people)
        let happened: unknown
        if (what !== 'pause') happened = await incidents[what](to)
        else {
          const resume = await (random.next() < 0.3 ? incidents.pauseCampaign(random.pick(names)) : incidents.pause(to))
          if (resume) pauses.push({ until: until + random.between(HOUR, 5 * DAY), end: resume })
          happened = resume
        }
        count(what, happened)
        // Nobody had an email to answer yet, or all were over. Each happens at least once: a quiet year proves little.
        if (!counts[what]) pending.push({ what, at: until + 1 })
      }
      if (!counts['cancel'] && launches.at(-1)!.at + DAY < until)
        count('cancel', await incidents.cancelCampaign(names.at(-1)!))
      if (slice % Math.ceil(slices / 20) === 0) report(`${new Date(until).toISOString()}, ${instants} instants`)
    }
    for (const pause of pauses) await pause.end()
    for (let day = 0; day < LONGEST_END_DAYS && (await isWalking(world)); day += 7)
      instants += await world.liveUntil(world.now() + 7 * DAY)
    const facts = await readFacts(world, server.taken)
    const broken = [...checkRules(facts, { isOver: true, lostMs: crew?.lostMs ?? 0 }), ...(await checkBooks(ground.db))]
    return {
      broken,
      counts: { ...counts, ...crew?.counts, instants, mails: facts.mails.length, walks: facts.walks.length },
    }
  } finally {
    await crew?.close()
    await world.close()
    await server.close()
  }
}

interface Preparation {
  readonly people: readonly string[]
  readonly campaigns: number
  readonly days: number
  readonly random: ReturnType<typeof seededRandom>
  readonly server: YearServer
}

/** Five senders in five zones, and campaigns whose lists overlap. Returns the campaigns' names. */
async function prepare(world: World, { people, campaigns, days, random, server }: Preparation): Promise<string[]> {
  // About three emails for everybody, and a third more lists than people, in half of the time.
  const quota = Math.max(4, Math.ceil((people.length * 4) / (days * 0.5) / 5))
  const ramp = { rampUpEnabled: true, rampUpStart: 2, rampUpStep: Math.max(1, Math.round(quota / 5)) }
  const senders = [
    await world.sender({ dailyQuota: quota, blackoutDates: ['2027-03-29', '2027-12-24', '2027-12-25'] }),
    await world.sender({ timezone: 'America/New_York', dailyQuota: 2 * quota, ...ramp }),
    await world.sender({
      ...OFFICE,
      timezone: 'Asia/Kolkata',
      startHour: '08:30',
      endHour: '11:15',
      dailyQuota: quota,
    }),
    await world.sender({ timezone: 'Europe/London', sendingDays: [1, 2, 3, 4, 5, 6], dailyQuota: quota }, server.url),
    await world.sender({
      timezone: 'Australia/Lord_Howe',
      sendingDays: [1, 2, 3, 4, 5, 6, 7],
      startHour: '01:30',
      endHour: '03:30',
      dailyQuota: quota,
      gapMinSeconds: 60,
      gapMaxSeconds: 240,
    }),
  ]
  const sequences = []
  for (let i = 0; i < Math.max(SEQUENCES.length, Math.ceil(campaigns / 4)); i++)
    sequences.push(await world.sequence(`sequence-${i + 1}`, SEQUENCES[i % SEQUENCES.length]!))
  const names = []
  for (let i = 0; i < campaigns; i++) {
    const name = `campaign-${i + 1}`
    const on = people.filter((_, place) => place % campaigns === i || random.next() < 0.33 / campaigns)
    const list = await world.list(`list-${i + 1}`, on)
    const first = senders[i % senders.length]!
    const chosen = [...new Set([first, ...(random.next() < 0.6 ? [random.pick(senders), random.pick(senders)] : [])])]
    await world.campaign({ name, sequence: sequences[i % sequences.length]!, list, senders: chosen })
    names.push(name)
  }
  return names
}

/** The server of one sender: it does not know some people, and is away at times. */
async function startServer(world: World) {
  const smtp = await startScriptedSmtp()
  const times: number[] = []
  const house = {
    url: `smtp://127.0.0.1:${smtp.port}`,
    awayUntil: 0,
    unknown: new Set<string>(),
    get taken(): TakenMail[] {
      return smtp.taken.map(({ rcpt, raw }, i) => ({ at: times[i]!, recipient: /<(.*)>/.exec(rcpt)![1]!, raw }))
    },
    close: () => smtp.close(),
  }
  smtp.script = (point, line) => {
    if (point === 'dot') times.push(Math.floor(world.now()))
    if (point === 'mail' && world.now() < house.awayUntil) return { do: 'reply', text: '451 4.3.0 not now' }
    const to = point === 'rcpt' ? /<(.*)>/.exec(line)?.[1] : undefined
    if (to === undefined || !house.unknown.has(to)) return undefined
    // What is under way at the same moment may still arrive.
    world.diary.stops.push({ at: world.now() + 5 * SECOND, why: 'its server does not know it', to })
    return { do: 'reply', text: '550 5.1.1 nobody here' }
  }
  return house
}

async function isWalking({ ground }: World): Promise<boolean> {
  const { rows } = await ground.db.query<{ walking: boolean }>(
    `select exists (select from postrider.enrollments where finished_at is null) as walking`,
  )
  return rows[0]!.walking
}

async function readWalking({ ground }: World): Promise<string[]> {
  const { rows } = await ground.db.query<{ to: string }>(
    `select distinct folded_address as "to" from postrider.enrollments join postrider.contacts on contacts.id = contact_id
     where state = 'active' order by folded_address`,
  )
  return rows.map(({ to }) => to)
}
