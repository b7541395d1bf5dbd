import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { api, ask } from '../../api/client'
import { readAll } from '../../api/read-all'
import type { Shape } from '../../api/types'

export type Template = Shape<'Template'>
export type TemplateVersion = Shape<'TemplateVersion'>
export type Preview = Shape<'TemplatePreview'>

/** What a template is written as; an empty part is none. */
export interface Content {
  readonly subject: string
  readonly html: string
  readonly text: string
}

export const contentOf = ({ subject, html, text }: Pick<Template, 'subject' | 'html' | 'text'>): Content => ({
  subject,
  html: html ?? '',
  text: text ?? '',
})

/** As the API takes it. */
export const toBody = ({ subject, html, text }: Content) => ({
  subject,
  html: html.trim() === '' ? null : html,
  text: text.trim() === '' ? null : text,
})

export const templateQuery = (id: string) =>
  queryOptions({
    queryKey: ['templates', id],
    // Whoever comes back to it learns at once what somebody else has saved.
    staleTime: 0,
    queryFn: () => ask(api.GET('/api/templates/{id}', { params: { path: { id } } })),
  })

export const templatePages = infiniteQueryOptions({
  queryKey: ['templates', 'pages'],
  initialPageParam: '',
  queryFn: ({ pageParam }) =>
    ask(api.GET('/api/templates', { params: { query: { limit: 50, ...(pageParam && { after: pageParam }) } } })),
  getNextPageParam: (page) => (page.has_more ? page.data.at(-1)?.id : undefined),
})

/** To choose from. */
export const templateChoices = queryOptions({
  queryKey: ['templates', 'choices'],
  queryFn: () => readAll((query) => ask(api.GET('/api/templates', { params: { query } }))),
})

export const versionPages = (id: string) =>
  infiniteQueryOptions({
    queryKey: ['templates', id, 'versions'],
    initialPageParam: '',
    queryFn: ({ pageParam }) =>
      ask(
        api.GET('/api/templates/{id}/versions', {
          params: { path: { id }, query: { limit: 20, ...(pageParam && { after: pageParam }) } },
        }),
      ),
    getNextPageParam: (page) => (page.has_more ? String(page.data.at(-1)?.version) : undefined),
  })
