import { type Campaign, findCampaign, findCampaignsByName } from '../db/campaigns.js'
import type { Sql } from '../db/client.js'
import { type Enrollment, findEnrollment } from '../db/enrollments.js'
import { listSenders, type Sender } from '../db/senders.js'
import { findSequence, findSequenceByName, listSequences, type Sequence } from '../db/sequences.js'
import { findTemplate, listTemplates, type Template } from '../db/templates.js'
import { foldAddress } from '../domain/address.js'
import { findClosest } from '../domain/did-you-mean.js'
import { PostriderError } from '../errors.js'
import { isId, readId, showId } from '../id.js'
import { CommandError, USAGE } from './command-error.js'

/** Campaigns, templates, sequences, enrollments and senders by the words people use for them. */

const NAMESAKES = 5

/** By its id as people see it, or by its name if no other has it. */
export async function getCampaign(sql: Sql, workspaceId: string, text: string): Promise<Campaign> {
  const found = await findCampaign(sql, workspaceId, readId('cmp', text) ?? text)
  if (found) return found
  const named = await findCampaignsByName(sql, workspaceId, text, NAMESAKES)
  if (named.length === 1) return named[0]!
  const shown = JSON.stringify(text)
  if (named.length === 0)
    throw new PostriderError(
      'campaign_not_found',
      `There is no campaign ${shown}. "postrider campaigns list" shows them.`,
    )
  const ids = named.map(({ id, status }) => `${showId('cmp', id)} (${status})`).join(', ')
  throw new CommandError(USAGE, `Several campaigns are named ${shown}. Say which by its id: ${ids}.`)
}

const PAGE = 500

/** By its name, or by its id as people see it. */
export async function getTemplate(sql: Sql, workspaceId: string, text: string): Promise<Template> {
  const id = readId('tpl', text) ?? (isId(text) ? text : null)
  const byId = id && (await findTemplate(sql, workspaceId, id))
  if (byId) return byId
  const names: string[] = []
  let after: { after?: string } = {}
  for (;;) {
    const page = await listTemplates(sql, workspaceId, { limit: PAGE, ...after })
    const found = page.find(({ name }) => name === text)
    if (found) return found
    names.push(...page.map(({ name }) => name))
    if (page.length < PAGE) break
    after = { after: page.at(-1)!.id }
  }
  throw new PostriderError('template_not_found', `There is no template ${JSON.stringify(text)}.${hint(text, names)}`)
}

/** By its name, or by its id as people see it. */
export async function getSequence(sql: Sql, workspaceId: string, text: string): Promise<Sequence> {
  const id = readId('seq', text) ?? (isId(text) ? text : null)
  const found = (id && (await findSequence(sql, workspaceId, id))) ?? (await findSequenceByName(sql, workspaceId, text))
  if (found) return found
  const names = (await listSequences(sql, workspaceId, { limit: PAGE })).map(({ name }) => name)
  throw new PostriderError('sequence_not_found', `There is no sequence ${JSON.stringify(text)}.${hint(text, names)}`)
}

/** By its id only: a contact may walk many sequences. */
export async function getEnrollment(sql: Sql, workspaceId: string, text: string): Promise<Enrollment> {
  const found = await findEnrollment(sql, workspaceId, readId('enr', text) ?? text)
  if (found) return found
  throw new PostriderError(
    'enrollment_not_found',
    `There is no enrollment ${JSON.stringify(text)}. "postrider enrollments list" shows them.`,
  )
}

/** By its address, or by its id as people see it. */
export async function getSender(sql: Sql, workspaceId: string, text: string): Promise<Sender> {
  const id = readId('snd', text) ?? text
  const senders = await listSenders(sql, workspaceId)
  const found = senders.find((each) => each.id === id || foldAddress(each.address) === foldAddress(text))
  if (found) return found
  const addresses = senders.map(({ address }) => address)
  throw new PostriderError('sender_not_found', `There is no sender ${JSON.stringify(text)}.${hint(text, addresses)}`)
}

const hint = (text: string, names: readonly string[]) => {
  const closest = findClosest(text, names)
  return closest ? ` Did you mean ${JSON.stringify(closest)}?` : ''
}
