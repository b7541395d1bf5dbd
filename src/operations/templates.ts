import { sayProblems } from '../domain/say-problem.js'
import {
  deleteTemplate,
  findTemplate,
  findUsesOfTemplate,
  insertTemplate,
  insertVersion,
  lockTemplate,
  type Template,
  type TemplateContent,
  type TemplateUse,
  updateTemplate,
} from '../db/templates.js'
import { type Problem, PostriderError } from '../errors.js'
import { newId } from '../id.js'
import { findTemplateProblems } from '../templates/find-problems.js'
import type { Context } from './context.js'

/** Changes to templates. What is saved can be rendered: everything that is wrong is said before. */
export interface TemplateInput {
  readonly name?: string | undefined
  readonly subject?: string | undefined
  readonly html?: string | null | undefined
  readonly text?: string | null | undefined
}

const LONGEST_NAME = 200

export async function createTemplate(context: Context, workspaceId: string, input: TemplateInput): Promise<Template> {
  const { name, content } = readFields(input, null)
  const id = newId()
  return context.db.transaction(async (tx) => {
    if (!(await insertTemplate(tx, workspaceId, id, name, content))) throw nameTaken()
    return (await findTemplate(tx, workspaceId, id))!
  })
}

/** Another content makes a new version; another name does not. */
export async function changeTemplate(
  context: Context,
  workspaceId: string,
  id: string,
  input: TemplateInput,
): Promise<Template> {
  try {
    return await context.db.transaction(async (tx) => {
      const known = await lockTemplate(tx, workspaceId, id)
      if (!known) throw noSuchTemplate()
      const { name, content } = readFields(input, known)
      const isSame = content.subject === known.subject && content.html === known.html && content.text === known.text
      const version = isSame ? known.version : known.version + 1
      if (!isSame) await insertVersion(tx, id, version, content)
      await updateTemplate(tx, workspaceId, id, { name, version })
      return (await findTemplate(tx, workspaceId, id))!
    })
  } catch (error) {
    throw (error as { code?: unknown }).code === '23505' ? nameTaken() : error
  }
}

/** With all its versions; not while a sequence uses it, or a campaign, even one that has ended: what it sent is shown by it. */
export async function removeTemplate(context: Context, workspaceId: string, id: string): Promise<void> {
  try {
    await context.db.transaction(async (tx) => {
      if (!(await lockTemplate(tx, workspaceId, id))) throw noSuchTemplate()
      const uses = await findUsesOfTemplate(tx, workspaceId, id)
      if (uses.length > 0) throw stillUsed(uses)
      await deleteTemplate(tx, workspaceId, id)
    })
  } catch (error) {
    throw (error as { code?: unknown }).code === '23503'
      ? stillUsed(await findUsesOfTemplate(context.db, workspaceId, id))
      : error
  }
}

function readFields(input: TemplateInput, known: Template | null): { name: string; content: TemplateContent } {
  const problems: Problem[] = []
  const name = (input.name ?? known?.name ?? '').trim()
  if (name === '') problems.push({ path: ['name'], detail: 'is needed' })
  else if (name.length > LONGEST_NAME || /[\p{Cc}\u2028\u2029]/u.test(name))
    problems.push({ path: ['name'], detail: `must be at most ${LONGEST_NAME} characters without control characters` })
  const content: TemplateContent = {
    subject: input.subject ?? known?.subject ?? '',
    html: input.html === undefined ? (known?.html ?? null) : input.html,
    text: input.text === undefined ? (known?.text ?? null) : input.text,
  }
  problems.push(...findTemplateProblems(content))
  if (problems.length > 0) throw invalidTemplate(problems)
  return { name, content }
}

export const invalidTemplate = (problems: readonly Problem[]) =>
  new PostriderError('template_invalid', `The template is not valid: ${sayProblems(problems)}.`, { problems })

export const noSuchTemplate = () => new PostriderError('template_not_found', 'There is no such template.')
const nameTaken = () => new PostriderError('template_conflict', 'Another template of this workspace has this name.')
const stillUsed = (uses: readonly TemplateUse[]) =>
  new PostriderError(
    'template_conflict',
    `The template is used by ${uses.map(({ kind, name }) => `the ${kind} ${JSON.stringify(name)}`).join(', ')}: what was sent is shown by it, and what will be is made of it.`,
  )
