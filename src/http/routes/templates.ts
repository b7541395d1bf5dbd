import { z } from '@hono/zod-openapi'
import { findTemplate, findTemplateVersion, listTemplates, listTemplateVersions } from '../../db/templates.js'
import type { Json } from '../../domain/action.js'
import { PostriderError } from '../../errors.js'
import { readId, showId } from '../../id.js'
import { previewContent, previewTemplate } from '../../operations/preview-template.js'
import { changeTemplate, createTemplate, noSuchTemplate, removeTemplate } from '../../operations/templates.js'
import { TEMPLATE_LIMITS } from '../../templates/liquid-engine.js'
import { type Call, type Endpoint, keyed } from '../endpoint.js'
import { asList, forwardQuery, listOf, pageQuery, readPage } from '../pagination.js'
import { refusal } from '../problem.js'
import { fields, jsonObject, text } from '../read-input.js'
import { templateSchema, toTemplate, toVersion, versionSchema } from '../template-json.js'

/** What the database can count. */
const MOST_VERSIONS = 2_147_483_647

const liquid = text(TEMPLATE_LIMITS.sourceLength)
const content = {
  html: liquid.nullable().optional(),
  text: liquid.nullable().optional().openapi({ description: 'Derived from the html when there is none.' }),
}
const newTemplate = fields({ name: text(1_000), subject: liquid, ...content }).openapi('NewTemplate')
const templateChange = fields({ name: text(1_000).optional(), subject: liquid.optional(), ...content }).openapi(
  'TemplateChange',
)

const filling = {
  data: jsonObject.optional().openapi({ description: 'What the variables stand for.' }),
  contact_id: text(1_000).optional().openapi({ description: 'Whose data stand for contact.' }),
}
const previewSchema = z
  .strictObject({
    object: z.literal('preview'),
    subject: z.string(),
    html: z.string().nullable(),
    text: z.string().nullable(),
    missing: z.array(z.string()).openapi({ description: 'Variables without a value. A campaign would not start.' }),
  })
  .openapi('TemplatePreview')

const common = { tag: 'Templates', scope: 'manage', answers: 'The template.', answer: templateSchema } as const
const EXAMPLE = { subject: 'Hello {{ contact.name }}', html: '<p>Hello {{ contact.name | default: "you" }}.</p>' }

export const templateEndpoints: readonly Endpoint[] = [
  keyed({
    ...common,
    method: 'get',
    path: '/api/templates',
    scope: 'read',
    summary: 'List templates',
    query: pageQuery({}),
    answers: 'A page of templates, newest first, each at its newest version.',
    answer: listOf(templateSchema),
    async run({ options: { context }, caller, query }) {
      const page = readPage(query, 'tpl')
      const found = await listTemplates(context.db, caller.workspaceId, { ...page, limit: page.limit + 1 })
      return asList(found.map(toTemplate), page)
    },
  }),
  keyed({
    ...common,
    method: 'post',
    path: '/api/templates',
    summary: 'Make a template',
    body: newTemplate,
    example: { name: 'Welcome', ...EXAMPLE },
    status: 201,
    problems: ['template_invalid', 'template_conflict'],
    run: async ({ options: { context }, caller, body }) =>
      toTemplate(await createTemplate(context, caller.workspaceId, body)),
  }),
  keyed({
    ...common,
    method: 'post',
    path: '/api/templates/preview',
    scope: 'read',
    summary: 'Preview what has not been saved',
    body: fields({ subject: liquid, ...content, ...filling }),
    example: { ...EXAMPLE, data: { contact: { name: 'Ada' } } },
    answers: 'What it would come to.',
    answer: previewSchema,
    problems: ['template_invalid', 'contact_not_found'],
    async run({ options: { context }, caller, body: { subject, html = null, text = null, ...rest } }) {
      const found = await previewContent(context, caller.workspaceId, { subject, html, text }, toFilling(rest))
      return { object: 'preview' as const, ...found, missing: [...found.missing] }
    },
  }),
  keyed({
    ...common,
    method: 'get',
    path: '/api/templates/{id}',
    scope: 'read',
    summary: 'One template',
    problems: ['template_not_found'],
    run: async (call) => toTemplate(await templateOf(call)),
  }),
  keyed({
    ...common,
    method: 'patch',
    path: '/api/templates/{id}',
    summary: 'Change a template',
    description: 'Another subject, html or text makes a new version. Campaigns that are under way keep theirs.',
    body: templateChange,
    example: { subject: 'Welcome, {{ contact.name }}' },
    problems: ['template_not_found', 'template_invalid', 'template_conflict'],
    run: async (call) =>
      toTemplate(await changeTemplate(call.options.context, call.caller.workspaceId, call.id('tpl'), call.body)),
  }),
  keyed({
    ...common,
    method: 'delete',
    path: '/api/templates/{id}',
    summary: 'Remove a template',
    description: 'With its versions. Not while a campaign or a sequence uses it.',
    answers: 'It is gone.',
    answer: z.strictObject({ object: z.literal('template'), id: z.string(), deleted: z.literal(true) }),
    problems: ['template_not_found', 'template_conflict'],
    async run(call) {
      const id = call.id('tpl')
      await removeTemplate(call.options.context, call.caller.workspaceId, id)
      return { object: 'template' as const, id: showId('tpl', id), deleted: true as const }
    },
  }),
  keyed({
    ...common,
    method: 'get',
    path: '/api/templates/{id}/versions',
    scope: 'read',
    summary: 'List the versions of a template',
    query: forwardQuery({}),
    description: 'Newest first; `after` is a version.',
    answers: 'A page of versions.',
    answer: listOf(versionSchema),
    problems: ['template_not_found'],
    async run(call) {
      const { id } = await templateOf(call)
      const { limit, after } = call.query
      const below = after === undefined ? null : readVersion(after)
      if (after !== undefined && below === null)
        throw refusal([{ in: 'query', path: ['after'], detail: 'must be a version, such as 3' }])
      const { db } = call.options.context
      const found = await listTemplateVersions(db, call.caller.workspaceId, id, { limit: limit + 1, below })
      return asList(found.map(toVersion), { limit })
    },
  }),
  keyed({
    ...common,
    method: 'get',
    path: '/api/templates/{id}/versions/{version}',
    scope: 'read',
    summary: 'One version of a template',
    answers: 'The version.',
    answer: versionSchema,
    problems: ['template_not_found'],
    async run(call) {
      const [id, version] = [call.id('tpl'), readVersion(call.param('version'))]
      const { db } = call.options.context
      const found = version === null ? null : await findTemplateVersion(db, call.caller.workspaceId, id, version)
      if (!found) throw noSuchTemplate()
      return toVersion(found)
    },
  }),
  keyed({
    ...common,
    method: 'post',
    path: '/api/templates/{id}/preview',
    scope: 'read',
    summary: 'Preview a template',
    description: 'Nothing is sent. Variables without a value are listed in missing.',
    body: fields({ ...filling, version: z.int('must be a whole number').min(1).max(MOST_VERSIONS).optional() }),
    bodyOptional: true,
    example: { data: { contact: { name: 'Ada' } } },
    answers: 'What it would come to.',
    answer: previewSchema,
    problems: ['template_not_found', 'template_invalid', 'contact_not_found'],
    async run(call) {
      const { version, ...rest } = call.body
      const input = { ...toFilling(rest), version }
      const found = await previewTemplate(call.options.context, call.caller.workspaceId, call.id('tpl'), input)
      return { object: 'preview' as const, ...found, missing: [...found.missing] }
    },
  }),
]

async function templateOf(call: Call<unknown, unknown>) {
  const template = await findTemplate(call.options.context.db, call.caller.workspaceId, call.id('tpl'))
  if (!template) throw noSuchTemplate()
  return template
}

const readVersion = (given: string): number | null =>
  /^[1-9]\d{0,9}$/.test(given) && Number(given) <= MOST_VERSIONS ? Number(given) : null

interface Filling {
  readonly data?: Record<string, unknown> | undefined
  readonly contact_id?: string | undefined
}

function toFilling({ data, contact_id: contact }: Filling) {
  const contactId = contact === undefined ? undefined : readId('ctc', contact)
  if (contactId === null) throw new PostriderError('contact_not_found', 'There is no such contact.')
  return { data: data as { readonly [key: string]: Json } | undefined, contactId }
}
