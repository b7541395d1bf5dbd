import type { AsyncCommand } from 'fast-check'
import { expect } from 'vitest'
import { pauseEnrollment, resumeEnrollment, stopEnrollment } from '../../src/operations/enrollments.js'
import { recordEvent } from '../../src/operations/record-event.js'
import { cancelCampaign, pauseCampaign, resumeCampaign } from '../../src/operations/steer-campaign.js'
import { checkBooks } from './check-books.js'
import { ifOpen } from './incidents.js'
import { DAY, HOUR, type NodeSketch, type World, WORKSPACE } from './world.js'

/**
 * A story of people who walk: what should be so is kept here in the plainest form (is it over, does it stand still, what
 * has won), and everything else is read from the database after each step and must agree with itself.
 */
export interface StoryModel {
  /** By enrollment. */
  readonly walks: Map<string, { over: boolean; paused: boolean }>
  canceled: boolean
  campaignPaused: boolean
}

export interface Story {
  readonly world: World
  readonly campaignId: string
  readonly walks: readonly { readonly id: string; readonly contactId: string; readonly to: string }[]
}

/** From each wait two ways lead on, and each begins with an email of its own: who got both was moved twice. */
export const WALK: readonly NodeSketch[] = [
  { id: 'a', type: 'send', delayMs: 0, reply: false, next: 'w1' },
  { id: 'w1', type: 'wait_for', event: 'clicked', timeoutMs: DAY, onEvent: 'b', onTimeout: 'c' },
  { id: 'b', type: 'send', delayMs: HOUR, reply: true, next: 'w2' },
  { id: 'w2', type: 'wait_for', event: 'opened', timeoutMs: DAY, onEvent: 'd', onTimeout: 'e' },
  { id: 'c', type: 'send', delayMs: HOUR, reply: true, next: 'rest' },
  { id: 'rest', type: 'wait', durationMs: 2 * HOUR, next: 'w3' },
  { id: 'w3', type: 'wait_for', event: 'clicked', timeoutMs: 2 * DAY, onEvent: 'f', onTimeout: 'halt' },
  { id: 'd', type: 'send', delayMs: 0, reply: true, next: null },
  { id: 'e', type: 'send', delayMs: HOUR, reply: false, next: null },
  { id: 'f', type: 'send', delayMs: HOUR, reply: true, next: 'g' },
  { id: 'g', type: 'send', delayMs: DAY, reply: true, next: null },
  { id: 'halt', type: 'stop' },
]
const EXCLUSIVE: readonly (readonly [string, string])[] = [
  ['b', 'c'],
  ['d', 'e'],
]

interface WalkRow {
  readonly id: string
  readonly state: string
  readonly node: string | null
  readonly arrived: boolean
  readonly visit: number
  readonly over: boolean
}

interface ActionRow {
  readonly walk: string
  readonly type: string
  readonly node: string
  readonly state: string
  readonly visit: number | null
}

const readWalks = async ({ world }: Story): Promise<WalkRow[]> =>
  (
    await world.ground.db.query<WalkRow>(
      `select id, state, node_id as node, arrived, visit, finished_at is not null as over from postrider.enrollments`,
    )
  ).rows

const readActions = async ({ world }: Story): Promise<ActionRow[]> =>
  (
    await world.ground.db.query<ActionRow>(
      `select enrollment_id as walk, type, node_id as node, state, (payload ->> 'visit')::int as visit
       from postrider.scheduled_actions where enrollment_id is not null`,
    )
  ).rows

/** What must be so whenever nobody is at work. */
export async function checkStory(model: StoryModel, story: Story): Promise<void> {
  const [walks, actions] = [await readWalks(story), await readActions(story)]
  const broken: string[] = []
  for (const { id, state, node, arrived, visit, over } of walks) {
    const of = actions.filter(({ walk }) => walk === id)
    const open = of.filter((action) => ['pending', 'leased', 'armed'].includes(action.state))
    const say = (what: string) => broken.push(`${id} (${state}, ${node}, ${arrived}, ${visit}): ${what}`)
    const known = model.walks.get(id)!
    if (known.over && !over) say('it should be over')
    if (!over && (state === 'paused') !== known.paused) say(`it should ${known.paused ? '' : 'not '}be paused`)
    if (over) known.over = true
    for (const [one, other] of EXCLUSIVE)
      if (of.some((action) => action.node === one) && of.some((action) => action.node === other))
        say(`went both ways, ${one} and ${other}`)
    if (over) {
      if (open.length > 0) say(`over, and ${open.map(({ type, node: at }) => `${type} of ${at}`).join(', ')} is open`)
      continue
    }
    const timers = open.filter(({ type }) => type !== 'send')
    if (timers.length !== 1) say(`has ${timers.length} timers`)
    for (const timer of timers) {
      if (timer.visit !== visit) say(`has a ${timer.type} of its visit ${timer.visit}`)
      if (timer.type !== (arrived ? 'timeout' : 'wait') || timer.node !== (node ?? 'end'))
        say(`has a ${timer.type} of ${timer.node}`)
    }
    if (arrived && open.some(({ type }) => type === 'send')) say('has arrived, and an email is still to come')
  }
  expect([...broken, ...(await checkBooks(story.world.ground.db))]).toEqual([])
}

export type StoryCommand = AsyncCommand<StoryModel, Story>

const command = (name: string, run: (model: StoryModel, story: Story) => Promise<void>): StoryCommand => ({
  check: () => true,
  async run(model, story) {
    await run(model, story)
    await checkStory(model, story)
  },
  toString: () => name,
})

export const live = (hours: number) =>
  command(`live ${hours} h`, async (_, { world }) => {
    await world.liveUntil(world.now() + hours * HOUR)
  })

export type Deed = 'clicked' | 'opened' | 'replied' | 'unsubscribed' | 'bounced' | 'stop' | 'pause' | 'resume'
const ENDS: readonly Deed[] = ['replied', 'unsubscribed', 'bounced', 'stop']

/** Does it, and writes down what must be so afterwards. What comes too late is refused, and says so. */
async function act(deed: Deed, place: number, model: StoryModel, story: Story): Promise<number> {
  const { context } = story.world.mail
  const walk = story.walks[place % story.walks.length]!
  const known = model.walks.get(walk.id)!
  let moved = 0
  if (deed === 'stop') await ifOpen(() => stopEnrollment(context, WORKSPACE, walk.id, 'a test'))
  else if (deed === 'pause' || deed === 'resume') {
    const steer = deed === 'pause' ? pauseEnrollment : resumeEnrollment
    if (await ifOpen(() => steer(context, WORKSPACE, walk.id))) known.paused = deed === 'pause'
  } else moved = (await recordEvent(context, WORKSPACE, { type: deed, contactId: walk.contactId })).moved
  if (ENDS.includes(deed)) known.over = true
  return moved
}

export const happen = (deed: Deed, place: number) =>
  command(`${deed} ${place}`, async (model, story) => {
    await act(deed, place, model, story)
    await story.world.tick()
  })

/** The timeout of somebody's wait comes, and at the same moment something else happens to them: one of the two wins. */
export const race = (deed: Deed, place: number) =>
  command(`timeout against ${deed} ${place}`, async (model, story) => {
    const { world } = story
    const { id } = story.walks[place % story.walks.length]!
    const before = (await readWalks(story)).find((walk) => walk.id === id)!
    const { rows } = await world.ground.db.query<{ due: Date }>(
      `select run_at as due from postrider.scheduled_actions
       where enrollment_id = $1 and type = 'timeout' and state = 'pending'`,
      [id],
    )
    const due = rows[0]?.due.getTime()
    if (due === undefined) return
    await world.liveUntil(due - 1_000)
    await world.goTo(Math.max(due, world.now()) + 2)
    const wasStill = model.walks.get(id)!.paused || model.campaignPaused
    const [moved] = await Promise.all([act(deed, place, model, story), world.tick()])
    await world.tick()
    const after = (await readWalks(story)).find((walk) => walk.id === id)!
    const node = WALK.find((one) => one.id === before.node)
    if (node?.type !== 'wait_for' || before.node !== after.node) return
    const stays = wasStill || deed === 'pause'
    // It was here when both came, and neither moved it: then neither can have been its to move.
    if (!after.over && after.visit === before.visit && !stays)
      expect({ deed, moved, after }).toEqual('somebody moved it')
    if (moved > 0 && deed === node.event) expect(after.visit).toBe(before.visit + 1)
  })

export const steer = (what: 'pause' | 'resume' | 'cancel') =>
  command(`${what} the campaign`, async (model, { world, campaignId }) => {
    const run = { pause: pauseCampaign, resume: resumeCampaign, cancel: cancelCampaign }[what]
    const done = await ifOpen(() => run(world.mail.context, WORKSPACE, campaignId))
    if (done && what === 'cancel') {
      model.canceled = true
      for (const walk of model.walks.values()) walk.over = true
    } else if (done) model.campaignPaused = what === 'pause'
    await world.tick()
  })
