import { createHash } from 'node:crypto'
import { DOCS_STYLE } from './docs-style.js'
import type { OpenApiDocument } from './openapi.js'
import { PROBLEM_CODES, statusOfCode, titleOfCode } from './problem-codes.js'
import { DASHBOARD_HEADER } from './refuse-cross-site.js'

/**
 * The OpenAPI document as a page: no script, nothing from elsewhere, so it works in a cellar and under the strictest
 * policy. Problem codes have anchors here, because that is where the `type` of every problem points.
 */
export interface DocsPage {
  readonly html: string
  /** Content-Security-Policy: this style, and nothing else. */
  readonly policy: string
}

interface Operation {
  readonly verb: string
  readonly path: string
  readonly operationId: string
  readonly tags: readonly string[]
  readonly summary: string
  readonly description?: string
  readonly security: readonly Readonly<Record<string, readonly string[]>>[]
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly required?: boolean; readonly content: Content }
  readonly responses: Readonly<Record<string, { readonly description: string; readonly content?: Content }>>
}
interface Parameter {
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly schema?: Schema
  readonly description?: string
}
type Content = Readonly<Record<string, { readonly schema?: Schema; readonly example?: unknown }>>
interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly format?: string
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly allOf?: readonly Schema[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly description?: string
}

export function renderDocs(document: OpenApiDocument): DocsPage {
  const operations = Object.entries(document.paths ?? {}).flatMap(([path, item]) =>
    Object.entries(item as Record<string, Omit<Operation, 'verb' | 'path'>>).map(([verb, operation]) => ({
      ...operation,
      verb,
      path,
    })),
  )
  const tags = [...new Set(operations.flatMap((operation) => operation.tags))]
  const of = (tag: string) => operations.filter((operation) => operation.tags.includes(tag))
  const schemas = Object.entries((document.components?.schemas ?? {}) as Record<string, Schema>)
  const html = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escape(document.info.title)} API</title><style>${DOCS_STYLE}</style></head><body>
<nav aria-label="Operations"><strong>${escape(document.info.title)} <span class="soft">${escape(document.info.version)}</span></strong>
${tags.map((tag) => `<h2>${escape(tag)}</h2><ul>${of(tag).map(renderLink).join('')}</ul>`).join('')}
<h2>Reference</h2><ul><li><a href="#problems">Problems</a></li><li><a href="#schemas">Schemas</a></li></ul></nav>
<main><h1>${escape(document.info.title)} API</h1><p>${escape(document.info.description ?? '')}</p>
<p>Send <code>Authorization: Bearer &lt;key&gt;</code>. Bodies and answers are JSON, instants are RFC 3339 in UTC, lists are
<code>{object, has_more, data}</code> with <code>limit</code>, <code>after</code> and <code>before</code>.
For programs: <a href="openapi.json">openapi.json</a>.</p>
${tags.map((tag) => `<section><h2>${escape(tag)}</h2>${of(tag).map(renderOperation).join('')}</section>`).join('')}
<section><h2 id="problems">Problems</h2><p>Errors are <code>application/problem+json</code> (RFC 9457).</p>
<article>${renderTable(PROBLEM_CODES.map((code) => [`<code id="${code}">${code}</code>`, String(statusOfCode(code)), escape(titleOfCode(code))]))}</article></section>
<section><h2 id="schemas">Schemas</h2>${schemas.map(renderSchema).join('')}</section></main></body></html>`
  const hash = createHash('sha256').update(DOCS_STYLE).digest('base64')
  return {
    html,
    policy: `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  }
}

const renderLink = ({ operationId, summary }: Operation) =>
  `<li><a href="#${escape(operationId)}">${escape(summary)}</a></li>`

function renderOperation(operation: Operation): string {
  const { verb, path, operationId, summary, description, parameters = [], requestBody, responses } = operation
  const [type, body] = Object.entries(requestBody?.content ?? {})[0] ?? []
  const shape =
    body?.schema && type === 'application/json' ? renderShape(body.schema) : `<p><code>${escape(type ?? '')}</code></p>`
  return `<article id="${escape(operationId)}"><h3><span class="verb ${escape(verb)}">${escape(verb)}</span>
<code>${escape(path)}</code><span class="scope">${renderAccess(operation)}</span></h3>
<p><b>${escape(summary)}.</b> ${escape(description ?? '')}</p>
${parameters.length > 0 ? `<h4>Parameters</h4>${renderTable(parameters.map(renderParameter))}` : ''}
${body?.schema ? `<h4>Body${requestBody?.required ? '' : ' (optional)'}</h4>${shape}` : ''}
<h4>Answers</h4>${renderTable(Object.entries(responses).map(([status, answer]) => [status, escape(answer.description), renderContent(answer.content)]))}
<h4>Example</h4><pre>${escape(writeCurl(operation))}</pre></article>`
}

function renderAccess({ security }: Operation): string {
  const scope = security[0]?.['apiKey']?.[0]
  if (scope !== undefined) return `scope <code>${escape(scope)}</code>`
  return security.length > 0 ? 'CRON_SECRET' : 'no key'
}

const renderParameter = ({ name, in: place, required, schema, description }: Parameter) => [
  `<code>${escape(name)}</code>`,
  `${escape(place)}${required ? ', required' : ''}`,
  schema ? renderType(schema) : '',
  escape(description ?? schema?.description ?? ''),
]

const renderContent = (content: Content = {}) =>
  Object.entries(content)
    .map(([type, { schema }]) =>
      type.endsWith('json') && schema ? renderType(schema) : `<code>${escape(type)}</code>`,
    )
    .join(' ')

/** An object's fields in a table; of anything else, its type. */
function renderShape(schema: Schema): string {
  if (!schema.properties) return `<p>${renderType(schema)}</p>`
  return renderTable(
    Object.entries(schema.properties).map(([name, field]) => [
      `<code>${escape(name)}</code>${schema.required?.includes(name) ? '' : ' <span class="soft">optional</span>'}`,
      renderType(field),
      escape(field.description ?? ''),
    ]),
  )
}

const renderSchema = ([name, schema]: [string, Schema]) =>
  `<article id="schema-${escape(name)}"><h3><code>${escape(name)}</code></h3>${schema.description ? `<p>${escape(schema.description)}</p>` : ''}${renderShape(schema)}</article>`

function renderType(schema: Schema): string {
  if (schema.$ref) {
    const name = schema.$ref.slice(schema.$ref.lastIndexOf('/') + 1)
    return `<a href="#schema-${escape(name)}">${escape(name)}</a>`
  }
  if (schema.enum) return schema.enum.map((value) => `<code>${escape(String(value))}</code>`).join(' ')
  if (schema.const !== undefined) return `<code>${escape(JSON.stringify(schema.const))}</code>`
  const alternatives = schema.anyOf ?? schema.oneOf ?? schema.allOf
  if (alternatives) return alternatives.map(renderType).join(' or ')
  if (schema.items) return `list of ${renderType(schema.items)}`
  const listed = schema.properties?.['data']?.items
  if (listed) return `page of ${renderType(listed)}`
  if (schema.properties) return `{ ${Object.keys(schema.properties).map(escape).join(', ')} }`
  const type = schema.type === undefined ? 'anything' : [schema.type].flat().join(' or ')
  return `${escape(type)}${schema.format ? ` <span class="soft">${escape(schema.format)}</span>` : ''}`
}

const renderTable = (rows: readonly (readonly string[])[]) =>
  `<div class="scroll"><table>${rows.map((row) => `<tr>${row.map((cell) => `<td>${cell}</td>`).join('')}</tr>`).join('')}</table></div>`

function writeCurl({ verb, path, security, parameters = [], requestBody }: Operation): string {
  const [type, content] = Object.entries(requestBody?.content ?? {})[0] ?? []
  const body = content?.example
  const data =
    typeof body === 'string'
      ? `--data-binary $'${body.replaceAll('\n', String.raw`\n`)}'`
      : `-d '${JSON.stringify(body)}'`
  const key = security[0]?.['apiKey'] ? '$POSTRIDER_API_KEY' : '$CRON_SECRET'
  return [
    `curl${verb === 'get' ? '' : ` -X ${verb.toUpperCase()}`} http://localhost:3400${path}`,
    ...(security.length > 0 ? [`  -H "Authorization: Bearer ${key}"`] : []),
    // Where the dashboard logs in, curl has to say that it is no page of another site.
    ...(security.length === 0 && parameters.some(({ name }) => name === DASHBOARD_HEADER)
      ? [`  -H '${DASHBOARD_HEADER}: 1'`]
      : []),
    ...(body === undefined ? [] : [`  -H 'Content-Type: ${type}'`, `  ${data}`]),
  ].join(' \\\n')
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}
const escape = (text: string) => text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character]!)
