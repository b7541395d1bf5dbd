import { describe, expect, it } from 'vitest'
import { renderDocs } from '../../src/http/docs-page.js'
import { createHash } from 'node:crypto'
import { ENDPOINTS } from '../../src/http/endpoints.js'
import { describeApi } from '../../src/http/openapi.js'
import { PROBLEM_CODES } from '../../src/http/problem-codes.js'

interface Operation {
  operationId: string
  summary: string
  tags: string[]
  security: Record<string, string[]>[]
  parameters?: { name: string; in: string; required?: boolean; schema: object }[]
  requestBody?: { content: Record<string, { schema: object }> }
  responses: Record<string, { description: string; content?: Record<string, { schema: object }> }>
}

const document = JSON.parse(JSON.stringify(describeApi(ENDPOINTS))) as {
  openapi: string
  info: { title: string; version: string }
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, object>; securitySchemes: Record<string, object> }
}
const operations = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({ path, method, ...operation })),
)

describe('the OpenAPI document', () => {
  it('describes every endpoint once', () => {
    expect(document.openapi).toBe('3.1.0')
    expect(operations).toHaveLength(ENDPOINTS.length)
    expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(operations.length)
    for (const { operationId, summary, tags } of operations) {
      expect(operationId).toMatch(/^[a-z_]+$/)
      expect(summary, operationId).toMatch(/^[A-Z]/)
      expect(tags).toHaveLength(1)
    }
  })

  it('names the parameters of every path, and refers to nothing that is not there', () => {
    for (const { path, parameters = [] } of operations) {
      const named = parameters.filter((parameter) => parameter.in === 'path')
      expect(named.map(({ name }) => name)).toEqual([...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name))
      for (const { required } of named) expect(required).toBe(true)
    }
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)]
    expect(references.length).toBeGreaterThan(50)
    for (const [, name] of references) expect(document.components.schemas).toHaveProperty(name!)
  })

  it('has a schema and problems for every answer', () => {
    for (const { operationId, responses, security, requestBody } of operations) {
      const statuses = Object.keys(responses)
      const successes = statuses.filter((status) => status.startsWith('2'))
      expect([1, 2], operationId).toContain(successes.length)
      for (const [status, { description, content }] of Object.entries(responses)) {
        expect(description, `${operationId} ${status}`).not.toBe('')
        const types = Object.keys(content ?? {})
        expect(types).toHaveLength(1)
        if (Number(status) >= 400) {
          expect(types).toEqual(['application/problem+json'])
          expect(content![types[0]!]!.schema).toEqual({ $ref: '#/components/schemas/Problem' })
        }
      }
      expect(statuses).toContain('500')
      if (security.length > 0) {
        expect(statuses).toContain('401')
        expect(document.components.securitySchemes).toHaveProperty(Object.keys(security[0]!)[0]!)
      }
      if (!requestBody) continue
      expect(statuses).toEqual(expect.arrayContaining(['413', '415', '422']))
      if ('application/json' in requestBody.content) expect(statuses).toContain('400')
    }
  })

  it('refuses unknown fields in what it describes, too', () => {
    expect(document.components.schemas['NewEmail']).toMatchObject({
      type: 'object',
      additionalProperties: false,
      required: ['to'],
    })
  })
})

describe('the page of it', () => {
  const { html, policy } = renderDocs(describeApi(ENDPOINTS))

  it('shows every operation, every schema and every problem code', () => {
    for (const { operationId } of operations) expect(html).toContain(`<article id="${operationId}">`)
    for (const name of Object.keys(document.components.schemas)) expect(html).toContain(`id="schema-${name}"`)
    for (const code of PROBLEM_CODES) expect(html).toContain(`id="${code}"`)
    expect(html.match(/curl /g)).toHaveLength(operations.length)
  })

  it('links to nothing that is not there, and needs nothing from elsewhere', () => {
    const ids = new Set([...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id))
    for (const [, target] of html.matchAll(/href="#([^"]+)"/g)) expect(ids).toContain(target)
    expect(html).not.toMatch(/<script|<link|<img|src=|@import|url\(/)
    expect([...html.matchAll(/href="([^#"][^"]*)"/g)].map(([, target]) => target)).toEqual(['openapi.json'])
    const style = /<style>([^]*)<\/style>/.exec(html)![1]!
    expect(policy).toContain(`style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`)
    expect(policy).toMatch(/^default-src 'none'/)
  })
})
