import type { Api, Identified } from './api.js'
import type { Scene } from './set-scene.js'

/** Campaigns of each kind: under way, done, paused, at a later time, a draft, and two of sequences. */
export interface Campaigns {
  readonly letter: string
  readonly workshop: string
  readonly survey: string
  readonly gardens: string
}

/** Two people every six seconds: it can be watched, and is over after a good ten minutes. */
const SLOWLY = { batch_size: 2, hourly_limit: 1_200 }
const DAY_MS = 86_400_000

export async function launchCampaigns(api: Api, scene: Scene): Promise<Campaigns> {
  const { senders, templates, lists } = scene
  const make = async (campaign: object) => (await api.post<Identified>('/api/campaigns', campaign)).id
  const launch = async (campaign: object) => {
    const id = await make(campaign)
    await api.post(`/api/campaigns/${id}/launch`)
    return id
  }
  await make({
    name: 'End of the season sale',
    list_id: lists.readers,
    template_id: templates.sale,
    sender_id: senders.letter,
    follow_pace: true,
  })
  const gardens = await launch({
    name: 'First gardens, this season',
    list_id: lists.gardeners,
    sequence_id: scene.sequences.gardens,
    sender_ids: [senders.mina, senders.tomas],
  })
  await launch({
    name: 'Seed savers, before the workshop',
    list_id: lists.guests,
    sequence_id: scene.sequences.savers,
    sender_id: senders.letter,
  })
  // From the sender that keeps its mail in the inbox.
  const workshop = await launch({
    name: 'Seed workshop, invitations',
    list_id: lists.guests,
    template_id: templates.workshop,
    sender_id: senders.hello,
  })
  const letter = await launchLetter(api, scene, FIRST_LETTER)
  const survey = await launch({
    name: 'Two questions',
    list_id: lists.readers,
    template_id: templates.survey,
    sender_id: senders.letter,
    ...SLOWLY,
  })
  const catalogue = await make({
    name: 'The winter catalogue',
    list_id: lists.readers,
    template_id: templates.letter,
    sender_id: senders.letter,
  })
  const tomorrow = new Date(Math.ceil(Date.now() / DAY_MS) * DAY_MS + 9 * 3_600_000)
  await api.post(`/api/campaigns/${catalogue}/schedule`, { scheduled_at: tomorrow.toISOString() })
  return { letter, workshop, survey, gardens }
}

const FIRST_LETTER = 12

/** `number` tells one from the next. */
export async function launchLetter(api: Api, { senders, templates, lists }: Scene, number: number): Promise<string> {
  const { id } = await api.post<Identified>('/api/campaigns', {
    name: `The Seed Letter ${number}`,
    list_id: lists.readers,
    template_id: templates.letter,
    sender_id: senders.letter,
    ...SLOWLY,
  })
  await api.post(`/api/campaigns/${id}/launch`)
  return id
}

export const nextLetter = (editions: number): number => FIRST_LETTER + editions
