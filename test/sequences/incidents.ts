import { newId } from '../../src/index.js'
import { pauseEnrollment, resumeEnrollment, stopEnrollment } from '../../src/operations/enrollments.js'
import { recordEvent } from '../../src/operations/record-event.js'
import { cancelCampaign, pauseCampaign, resumeCampaign } from '../../src/operations/steer-campaign.js'
import { unsubscribe } from '../../src/operations/unsubscribe.js'
import { type World, WORKSPACE } from './world.js'

/**
 * What contacts and people do to a world, written into its diary: a stop from when it was answered on, an event from
 * when it was told, a pause for the time between the two answers.
 */
export interface Incidents {
  /** Each of these does nothing, and says so, for a contact who has got nothing yet. */
  reply(to: string): Promise<boolean>
  click(to: string): Promise<boolean>
  /** The contact's server says that there is nobody of that name. */
  bounce(to: string): Promise<boolean>
  /** By the link in the last email. */
  leave(to: string): Promise<boolean>
  stop(to: string): Promise<boolean>
  /** Returns how to end it; null when it walks nowhere. */
  pause(to: string): Promise<(() => Promise<void>) | null>
  pauseCampaign(name: string): Promise<(() => Promise<void>) | null>
  cancelCampaign(name: string): Promise<boolean>
}

interface LastEmail {
  readonly id: string
  readonly sequenceId: string
  readonly campaignId: string
}

export function createIncidents(world: World): Incidents {
  const { diary, ground } = world
  const context = () => world.mail.context

  const lastEmail = async (to: string): Promise<LastEmail | null> => {
    const { rows } = await ground.db.query<LastEmail>(
      `select action.id, sequence_id as "sequenceId", campaign_id as "campaignId"
       from postrider.contacts join postrider.enrollments on enrollments.contact_id = contacts.id
         join postrider.scheduled_actions action on action.enrollment_id = enrollments.id
       where folded_address = $1 and action.type = 'send' and action.state = 'done' order by action.state_at desc limit 1`,
      [to],
    )
    return rows[0] ?? null
  }
  const openWalk = async (to: string) => {
    const { rows } = await ground.db.query<{ id: string; sequenceId: string }>(
      `select enrollments.id, sequence_id as "sequenceId" from postrider.enrollments
         join postrider.contacts on contacts.id = contact_id
       where folded_address = $1 and state = 'active' order by enrollments.created_at desc limit 1`,
      [to],
    )
    return rows[0] ?? null
  }
  const sequenceName = (id: string) => diary.campaigns.find(({ sequenceId }) => sequenceId === id)!.sequence
  const campaignNamed = (name: string) => diary.campaigns.find((campaign) => campaign.name === name)!

  const tell = async (to: string, type: string, about: object = {}) => {
    const email = await lastEmail(to)
    if (!email) return null
    const sequence = sequenceName(email.sequenceId)
    diary.events.push({ at: world.now(), to, type, sequence: type === 'bounced' ? null : sequence })
    await recordEvent(context(), WORKSPACE, { type, id: newId(), emailId: email.id, ...about })
    return sequence
  }
  const paused = async (of: { to?: string; sequence?: string; campaign?: string }, resume: () => Promise<unknown>) => {
    const pause = { from: world.now(), until: Number.POSITIVE_INFINITY, ...of }
    diary.pauses.push(pause)
    return async () => {
      pause.until = world.now()
      await resume()
    }
  }

  return {
    async reply(to) {
      const sequence = await tell(to, 'replied', { payload: { from: to } })
      if (sequence !== null) diary.stops.push({ at: world.now(), why: 'it replied', to, sequence })
      return sequence !== null
    },
    async click(to) {
      return (await tell(to, 'clicked')) !== null
    },
    async bounce(to) {
      const told = await tell(to, 'bounced', { recipient: to, payload: { bounce_type: 'hard' } })
      if (told !== null) diary.stops.push({ at: world.now(), why: 'it bounced', to })
      return told !== null
    },
    async leave(to) {
      const email = await lastEmail(to)
      const raw = email && (await world.raw(email.id))
      const token = raw && /List-Unsubscribe:\s*<[^>]*\/u\/([^>]+)>/.exec(raw.replaceAll(/\r\n[ \t]+/g, ''))?.[1]
      if (!email || !token) return false
      const campaign = diary.campaigns.find(({ id }) => id === email.campaignId)!
      const answer = await unsubscribe(context(), token, 'link')
      if (!answer?.optedOut) throw new Error(`${to} could not unsubscribe`)
      diary.stops.push({ at: world.now(), why: 'it unsubscribed', to, list: campaign.list })
      return true
    },
    async stop(to) {
      const walk = await openWalk(to)
      if (!walk) return false
      await stopEnrollment(context(), WORKSPACE, walk.id, 'a test')
      diary.stops.push({ at: world.now(), why: 'it was stopped', to, sequence: sequenceName(walk.sequenceId) })
      return true
    },
    async pause(to) {
      const walk = await openWalk(to)
      if (!walk) return null
      await pauseEnrollment(context(), WORKSPACE, walk.id)
      return paused({ to, sequence: sequenceName(walk.sequenceId) }, () =>
        ifOpen(() => resumeEnrollment(context(), WORKSPACE, walk.id)),
      )
    },
    async pauseCampaign(name) {
      const { id } = campaignNamed(name)
      if (!(await ifOpen(() => pauseCampaign(context(), WORKSPACE, id)))) return null
      return paused({ campaign: name }, () => ifOpen(() => resumeCampaign(context(), WORKSPACE, id)))
    },
    async cancelCampaign(name) {
      if (!(await ifOpen(() => cancelCampaign(context(), WORKSPACE, campaignNamed(name).id)))) return false
      diary.stops.push({ at: world.now(), why: 'it was canceled', campaign: name })
      return true
    },
  }
}

/** What is over cannot be steered any more, and says so. */
export async function ifOpen(steer: () => Promise<unknown>): Promise<boolean> {
  try {
    await steer()
    return true
  } catch (error) {
    if ((error as { code?: string }).code?.endsWith('_conflict')) return false
    throw error
  }
}
