import { z } from '@hono/zod-openapi'
import type { Template } from '../db/templates.js'
import { showId } from '../id.js'
import { findVariables } from '../templates/find-variables.js'

/** Templates as clients and `--json` see them. */
const contentShape = {
  version: z.int(),
  subject: z.string(),
  html: z.string().nullable(),
  text: z.string().nullable(),
  variables: z.array(z.string()).openapi({ description: 'What it speaks of, such as contact.name.' }),
}

export const templateSchema = z
  .strictObject({
    object: z.literal('template'),
    id: z.string(),
    name: z.string(),
    ...contentShape,
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .openapi('Template')

export const versionSchema = z
  .strictObject({
    object: z.literal('template_version'),
    template_id: z.string(),
    ...contentShape,
    created_at: z.iso.datetime(),
  })
  .openapi('TemplateVersion')

export const toTemplate = (template: Template): z.input<typeof templateSchema> => ({
  object: 'template',
  id: showId('tpl', template.id),
  name: template.name,
  ...toContent(template),
  created_at: template.createdAt.toISOString(),
  updated_at: template.updatedAt.toISOString(),
})

export const toVersion = (template: Template): z.input<typeof versionSchema> => ({
  object: 'template_version',
  template_id: showId('tpl', template.id),
  ...toContent(template),
  created_at: template.versionCreatedAt.toISOString(),
})

const toContent = (template: Template) => ({
  version: template.version,
  subject: template.subject,
  html: template.html,
  text: template.text,
  variables: findVariables(template),
})
