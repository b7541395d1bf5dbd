import { type DocsPage, renderDocs } from '../docs-page.js'
import { type Endpoint, open } from '../endpoint.js'
import { describeApi, type OpenApiDocument } from '../openapi.js'

/** Made when first asked for: most processes never are. */
export function documentationEndpoints(all: () => readonly Endpoint[]): readonly Endpoint[] {
  let document: OpenApiDocument | undefined
  let page: DocsPage | undefined
  const describe = () => (document ??= describeApi(all()))
  const render = () => (page ??= renderDocs(describe()))
  const common = { method: 'get', access: 'open', tag: 'Operation' } as const
  return [
    open({
      ...common,
      path: '/api/openapi.json',
      summary: 'This description, for programs',
      answers: 'OpenAPI 3.1.',
      answer: { contentType: 'application/json' },
      run: () => Promise.resolve(Response.json(describe())),
    }),
    open({
      ...common,
      path: '/api/docs',
      summary: 'This description, for people',
      answers: 'A page.',
      answer: { contentType: 'text/html' },
      run: () => {
        const { html, policy } = render()
        const headers = { 'Content-Type': 'text/html; charset=utf-8', 'Content-Security-Policy': policy }
        return Promise.resolve(new Response(html, { headers }))
      },
    }),
  ]
}
