import { findContact } from '../db/contacts.js'
import { findTemplate, findTemplateVersion, type TemplateContent } from '../db/templates.js'
import type { Json } from '../domain/action.js'
import { PostriderError } from '../errors.js'
import { compileTemplate, type Rendered, type RenderedParts } from '../templates/compile-template.js'
import { contactData } from '../templates/render-campaign-email.js'
import type { Context } from './context.js'
import { invalidTemplate, noSuchTemplate } from './templates.js'

/** What a template would come to. Nothing is sent and nothing is saved. */
export interface PreviewInput {
  /** What the template is filled with; beside it stand the contact, and an unsubscribe link that leads nowhere. */
  readonly data?: { readonly [key: string]: Json } | undefined
  readonly contactId?: string | undefined
}

export interface Preview extends RenderedParts {
  /** Variables without a value; the parts have nothing in their place. */
  readonly missing: readonly string[]
}

export async function previewTemplate(
  context: Context,
  workspaceId: string,
  id: string,
  { version, ...input }: PreviewInput & { readonly version?: number | undefined },
): Promise<Preview> {
  const template =
    version === undefined
      ? await findTemplate(context.db, workspaceId, id)
      : await findTemplateVersion(context.db, workspaceId, id, version)
  if (!template) throw noSuchTemplate()
  const compiled = context.templates.compile(template.id, template.version, template)
  return preview(context, workspaceId, compiled, input)
}

/** Of what has not been saved. */
export const previewContent = (context: Context, workspaceId: string, content: TemplateContent, input: PreviewInput) =>
  preview(context, workspaceId, compileTemplate(content), input)

async function preview(
  context: Context,
  workspaceId: string,
  compiled: ReturnType<typeof compileTemplate>,
  { data, contactId }: PreviewInput,
): Promise<Preview> {
  if (!compiled.ok) throw invalidTemplate(compiled.problems)
  const contact = contactId === undefined ? null : await findContact(context.db, workspaceId, contactId)
  if (contactId !== undefined && !contact) throw new PostriderError('contact_not_found', 'There is no such contact.')
  const rendered = compiled.template.render({
    unsubscribe_url: `${context.publicUrl.replace(/\/+$/, '')}/u/preview`,
    ...(contact && {
      contact: contactData({ ...contact, attributes: contact.attributes as { readonly [key: string]: Json } }),
    }),
    ...data,
  })
  return toPreview(rendered)
}

function toPreview(rendered: Rendered): Preview {
  if (rendered.ok) return { subject: rendered.subject, html: rendered.html, text: rendered.text, missing: [] }
  if (!rendered.parts) throw new PostriderError('template_invalid', rendered.problem)
  return { ...rendered.parts, missing: rendered.missing }
}
