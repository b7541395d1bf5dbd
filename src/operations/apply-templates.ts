import type { Sql } from '../db/client.js'
import { findTemplate, type Template } from '../db/templates.js'
import type { NewEmail } from '../domain/new-email.js'
import type { Problem } from '../errors.js'
import { readId } from '../id.js'
import type { Context } from './context.js'

/**
 * Single emails that name a template are rendered when they are accepted: what was accepted does not change with the
 * template, and whoever left out a variable hears of it.
 */
export interface Applied {
  readonly email: NewEmail
  readonly problems: readonly Problem[]
}

export async function applyTemplates(
  context: Context,
  sql: Sql,
  workspaceId: string,
  emails: readonly NewEmail[],
): Promise<Applied[]> {
  const found = new Map<string, Template | null>()
  for (const { template } of emails)
    if (template && !found.has(template.id))
      found.set(template.id, await findTemplate(sql, workspaceId, readId('tpl', template.id) ?? template.id))
  return emails.map((email) =>
    email.template ? apply(context, email, found.get(email.template.id)!) : { email, problems: [] },
  )
}

function apply(context: Context, email: NewEmail, template: Template | null): Applied {
  const { template: named, ...rest } = email
  const refused = (...problems: Problem[]) => ({ email, problems })
  if (email.html !== undefined || email.text !== undefined)
    return refused({ path: ['template'], detail: 'cannot be combined with html or text' })
  if (!template) return refused({ path: ['template', 'id'], detail: 'there is no such template' })
  const compiled = context.templates.compile(template.id, template.version, template)
  if (!compiled.ok)
    return refused({ path: ['template', 'id'], detail: `is not valid: ${compiled.problems[0]!.detail}` })
  const rendered = compiled.template.render(named!.variables ?? {})
  if (!rendered.ok)
    return rendered.missing.length > 0
      ? refused(...rendered.missing.map(toProblem))
      : refused({ path: ['template', 'variables'], detail: `do not work: ${rendered.problem}` })
  return {
    problems: [],
    email: {
      ...rest,
      subject: email.subject ?? rendered.subject,
      ...(rendered.html !== null && { html: rendered.html }),
      ...(rendered.text !== null && { text: rendered.text }),
    },
  }
}

/** `order.lines` is the member `lines` of the variable `order`. */
const toProblem = (name: string): Problem => ({
  path: ['template', 'variables', ...name.split('.')],
  detail: 'is needed by the template',
})
